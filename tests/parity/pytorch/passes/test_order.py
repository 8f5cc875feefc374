"""The predicted order of evaluation, against the order of torch. Of ties it is true of builds with libstdc++ only."""

from __future__ import annotations

import random
import sys

import pytest

from microtape.recording.pytorch.passes.order import ReadyHeap, evaluation_order
from tests.parity.pytorch.watching import hooks, walk

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only torch's builds for Linux use libstdc++")


def predicted(roots, queue=None, depth=0, needed=None):
    """The nodes of a pass from these roots, in the predicted order."""
    nodes = [node for node in walk(*roots)[0] if needed is None or node in needed]
    index = {node: i for i, node in enumerate(nodes)}
    edges = [[index[to] for to, _ in node.next_functions if to in index] for node in nodes]
    numbers = [node._sequence_nr() for node in nodes]
    for node in evaluation_order([index[root] for root in roots], edges, numbers, queue, depth):
        yield nodes[node]


def reaches(node, inputs):
    """Whether a gradient of one of these leaves goes through a node."""
    return any(to.variable is leaf for to in walk(node)[0] if hasattr(to, "variable") for leaf in inputs)


def random_outputs(torch, seed):
    """One to three outputs of a random program with up to 20 leaves."""
    choose = random.Random(seed)
    leaves = [torch.ones(3, requires_grad=True) for _ in range(choose.randint(1, 20))]
    pool = list(leaves)
    for _ in range(choose.randint(3, 60)):
        a, b = choose.choice(pool), choose.choice(pool)
        kind = choose.choice(["multiply", "multiply", "join", "split"])
        if kind == "multiply":
            pool.append(a * b)
        elif kind == "join":
            pool.append(torch.cat([choose.choice(pool)[:1] for _ in range(3)]))
        else:
            pool.extend(part.sum().expand(3) for part in torch.split(a.sin(), [1, 2]))
    return [choose.choice(pool).sum() for _ in range(choose.choice([1, 1, 2, 3]))]


@pytest.mark.parametrize("seed", range(100))
def test_a_random_pass_runs_in_the_predicted_order(torch, seed):
    outputs = random_outputs(torch, seed)
    roots, ran = [one.grad_fn for one in outputs], []
    with hooks(walk(*roots)[0], after=lambda node, made, got: ran.append(node)):
        torch.autograd.backward(outputs)
    assert ran == list(predicted(roots))


@pytest.mark.parametrize("seed", range(20))
def test_a_pass_that_asks_for_some_inputs_runs_in_the_predicted_order(torch, seed):
    output = random_outputs(torch, seed)[0]
    nodes, _ = walk(output.grad_fn)
    inputs = [node.variable for node in nodes if hasattr(node, "variable")][::2]
    needed = [node for node in nodes if reaches(node, inputs)]
    ran = []
    with hooks(nodes, after=lambda node, made, got: ran.append(node)):
        output.backward(inputs=inputs)
    assert ran == list(predicted([output.grad_fn], needed=needed))


def test_a_root_given_twice_and_a_root_behind_another_run_in_the_predicted_order(torch):
    leaf = torch.ones(3, requires_grad=True)
    middle = (leaf * 2).sum()
    end = middle.exp()
    roots, ran = [one.grad_fn for one in (middle, end, end)], []
    with hooks(walk(*roots)[0], after=lambda node, made, got: ran.append(node)):
        torch.autograd.backward([middle, end, end])
    assert ran == list(predicted(roots))


@pytest.mark.parametrize("failing", range(12))
def test_a_leaf_that_fails_is_the_one_predicted_after_those_that_ran(torch, failing):
    leaves, ran = [torch.ones(3, requires_grad=True) for _ in range(12)], []

    def fail(leaf):
        raise ValueError("mine")

    leaves[failing].register_post_accumulate_grad_hook(fail)
    loss = torch.stack(leaves).sum()
    with (
        hooks(walk(loss.grad_fn)[0], after=lambda node, made, got: ran.append(node)),
        pytest.raises(ValueError, match="mine"),
    ):
        loss.backward()
    assert list(predicted([loss.grad_fn]))[len(ran)].variable is leaves[failing]


@pytest.mark.parametrize("outputs", [1, 2])
def test_a_pass_inside_of_a_pass_shares_its_queue(torch, outputs):
    """The inner pass may change the order in which waiting AccumulateGrad nodes of the outer pass run."""
    leaves = [torch.ones(3, requires_grad=True) for _ in range(12)]
    loss = torch.stack(leaves).sum()
    ran, expected, queue = [], [], ReadyHeap()
    inner_leaves = [torch.ones(2, requires_grad=True) for _ in range(7)]
    inner = [torch.stack(inner_leaves).sum() * i for i in range(1, outputs + 1)]
    outer_nodes, inner_nodes = walk(loss.grad_fn)[0], walk(*[one.grad_fn for one in inner])[0]

    def after(node, made, got):
        ran.append(node)
        if len(ran) == 5:
            torch.autograd.backward(inner)

    with hooks(outer_nodes + inner_nodes, after=after):
        loss.backward()
    for node in predicted([loss.grad_fn], queue):
        expected.append(node)
        if len(expected) == 5:
            expected.extend(predicted([one.grad_fn for one in inner], queue, depth=1))
    assert ran == expected
