"""Facts about torch on which its recorder rests: what arrives at a node is the sum of what post-hooks saw being sent.

A new version of torch that breaks one of them is noticed here first.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.parity.pytorch.watching import hooks, walk


def random_leaf(torch, *shape, **options):
    return torch.randn(*shape, requires_grad=True, **options)


def shared_weight(torch):
    weight, hidden = random_leaf(torch, 30, 30) * 0.1, random_leaf(torch, 30, 30)
    for _ in range(8):
        hidden = torch.tanh(hidden @ weight) + hidden * hidden * 0.1 + hidden.sin() * 0.1
    return hidden.sum()


def two_edges_to_one_node(torch):
    x = random_leaf(torch, 5) * 1
    return (x * x * x).sum()


def the_same_operand_twice(torch):
    x = random_leaf(torch, 5) * 1
    return (x + x).sum()


def unused_outputs(torch):
    return torch.split(random_leaf(torch, 5) * 1, 1)[0].sum()


def bfloat16(torch):
    x = random_leaf(torch, 100, dtype=torch.bfloat16) * 1
    return (x * x + x.exp() + x).sum()


def complex_numbers(torch):
    x = random_leaf(torch, 10, dtype=torch.complex64) * 1
    return (x * x.conj() + x).abs().sum()


def broadcast_and_mixed_dtypes(torch):
    a, b = random_leaf(torch, 4, 4) * 1, random_leaf(torch, 4) * 1
    return (a * b + a + b.double()).sum()


def sparse_gradients(torch):
    embedding = torch.nn.Embedding(50, 8, sparse=True)
    rows = torch.randint(0, 50, (9,))
    return embedding(rows).sum() + embedding(rows).pow(2).sum() + embedding.weight.sum()


def expanded(torch):
    x = random_leaf(torch, 5) * 1
    return x.expand(3, 5).sum() + x.sum() + (x * 2).sum()


def a_leaf_is_asked_for(torch):
    leaf = random_leaf(torch, 4, 4)
    x = leaf * 1
    return (x @ x).sum(), [leaf]


def the_middle_is_asked_for(torch):
    x = random_leaf(torch, 4, 4) * 1
    return (x @ x).sum() + x.exp().sum(), [x]


def two_paths(torch):
    x = random_leaf(torch, 4, 4)
    return (x * 2 + x.exp()).sum()


def powers(torch):
    x = random_leaf(torch, 5) * 1
    return (x**3 + x * x).sum()


def gradients_of_none(torch):
    class Second(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a * 1, b * 1

        @staticmethod
        def backward(ctx, first, second):
            return None, second

    a, b = random_leaf(torch, 3), random_leaf(torch, 3)
    first, second = Second.apply(a * 1, b * 1)
    return first.sum() + second.sum() + a.sum()


def assigned_slices(torch):
    x, row = random_leaf(torch, 2, 3) * 1, random_leaf(torch, 3)
    x[0] = row
    x[1] = row * 2
    return (x * x).sum()


def a_view_written_in_place(torch):
    x, row = random_leaf(torch, 2, 3) * 1, random_leaf(torch, 3)
    view = x[0]
    view.mul_(row)
    return x.sum() + view.sum()


PROGRAMS = [
    shared_weight, two_edges_to_one_node, the_same_operand_twice, unused_outputs, bfloat16, complex_numbers,
    broadcast_and_mixed_dtypes, sparse_gradients, expanded, a_leaf_is_asked_for, the_middle_is_asked_for, two_paths,
    powers, gradients_of_none, assigned_slices, a_view_written_in_place,
]  # fmt: skip


def same_bits(torch, ours, theirs):
    if ours is None or theirs is None:
        return ours is theirs
    if ours.is_sparse:
        ours, theirs = ours.to_dense(), theirs.to_dense()
    return ours.dtype == theirs.dtype and torch.equal(ours, theirs)


@pytest.mark.filterwarnings("ignore:Using backward.* with create_graph=True:UserWarning")
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("program", PROGRAMS)
def test_the_sum_of_what_was_sent_is_what_arrives_bit_by_bit(torch, program, create_graph):
    """Terms in the order of steps and of edges, added from the first; and a node runs when nothing more will come."""
    torch.manual_seed(0)
    result = program(torch)
    loss, inputs = result if isinstance(result, tuple) else (result, None)
    nodes, left = walk(loss.grad_fn)
    buffers, wrong, early = {}, [], []

    def before(node, got):
        if left[node]:
            early.append(node)
        if node is not loss.grad_fn:
            wrong.extend(
                (node, i) for i, one in enumerate(got) if not same_bits(torch, buffers.pop((node, i), None), one)
            )

    def after(node, made, got):
        assert len(made) == len(node.next_functions)
        for (to, i), gradient in zip(node.next_functions, made, strict=True):
            left[to] -= 1
            if gradient is not None:
                old = buffers.get((to, i))
                buffers[to, i] = gradient.detach() if old is None else old + gradient.detach()

    with hooks(nodes, before, after):
        if inputs is None:
            loss.backward(create_graph=create_graph)
        else:
            torch.autograd.grad(loss, inputs, create_graph=create_graph)
    assert (wrong, early) == ([], [])
    asked_for = [] if inputs is None else [walk(one.grad_fn)[0][0] for one in inputs if one.grad_fn]
    assert {node for node, _ in buffers} <= {None, *asked_for, *(node for node in nodes if hasattr(node, "variable"))}


def test_a_gradient_that_is_asked_for_is_the_sum_of_what_was_sent_after_tensor_hooks(torch):
    loss, (x,) = the_middle_is_asked_for(torch)
    x.register_hook(lambda gradient: gradient * 10)
    sent = []

    def after(node, made, got):
        sent.extend(one for (to, _), one in zip(node.next_functions, made, strict=True) if to is x.grad_fn)

    with hooks(walk(loss.grad_fn)[0], after=after):
        (gradient,) = torch.autograd.grad(loss, x)
    assert len(sent) == 3
    assert torch.equal(gradient, sum(sent[1:], sent[0]) * 10)


@pytest.mark.parametrize("terms", [1, 2])
def test_of_one_or_two_terms_nothing_need_be_added_to_know_the_sums(torch, terms):
    """What arrives is the one term itself; of two, what is there before the second is the first."""
    x = torch.randn(4, requires_grad=True) * 1
    loss = (x.exp() if terms == 1 else x.exp() + x.sin()).sum()
    sent, arrived = [], []

    def after(node, made, got):
        sent.extend(one.clone() for (to, _), one in zip(node.next_functions, made, strict=True) if to is x.grad_fn)
        if node is x.grad_fn:
            arrived.append(got[0].clone())

    with hooks(walk(loss.grad_fn)[0], after=after):
        loss.backward()
    assert len(sent) == terms
    assert torch.equal(arrived[0], sum(sent[1:], sent[0]))


def test_an_undefined_gradient_counts_as_a_delivery(torch):
    sent = Counter()

    def after(node, made, got):
        sent.update(to for to, _ in node.next_functions if to is not None)

    loss = gradients_of_none(torch)
    nodes, left = walk(loss.grad_fn)
    with hooks(nodes, after=after):
        loss.backward()
    assert sent == left
