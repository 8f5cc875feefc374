"""Hooks on tensors and on nodes, their order, and `retain_grad`."""

from __future__ import annotations

import pytest

import microtape as mt
from microtape.basics.settings import settings
from microtape.errors import GradientError
from microtape.tape.watch import Watcher, watch


def leaf(*values):
    return mt.tensor(list(values), requires_grad=True)


def test_a_tensor_hook_sees_the_total_and_may_replace_it():
    x = leaf(1.0)
    y = x * 2
    seen = []
    y.register_hook(lambda g: seen.append(g.item()))
    y.register_hook(lambda g: g * 10)
    (y + y * 3).backward()
    assert seen == [4.0]
    assert x.grad.item() == 80.0


def test_everything_on_one_tensor_runs_in_this_order():
    x = leaf(1.0)
    y = x * 2
    said = []
    node, accumulator = y.grad_fn, y.grad_fn.next_functions[0][0]
    accumulator.register_hook(lambda gi, go: said.append("x node post"))
    x.register_post_accumulate_grad_hook(lambda t: said.append(f"x accumulated {t.grad.item()}"))
    accumulator.register_prehook(lambda gs: said.append("x node pre"))
    x.register_hook(lambda g: said.append("x tensor"))
    node.register_hook(lambda gi, go: said.append("y node post"))
    node.register_prehook(lambda gs: said.append(f"y node pre {y.grad.item()}"))
    y.retain_grad()
    y.register_hook(lambda g: said.append("y tensor"))
    y.backward()
    assert said == [
        "y tensor",
        "y node pre 1.0",
        "y node post",
        "x tensor",
        "x node pre",
        "x accumulated 2.0",
        "x node post",
    ]


def test_a_handle_removes_its_hook():
    x = leaf(1.0)
    handle = x.register_hook(lambda g: g * 10)
    handle.remove()
    handle.remove()
    with x.register_hook(lambda g: g * 7):
        (x * 1).backward()
    (x * 1).backward()
    assert x.grad.item() == 8.0


def test_a_leafs_hooks_outlive_its_graphs_but_its_nodes_do_not():
    x = leaf(1.0)
    x.register_hook(lambda g: g * 2)
    y = x * 1
    y.grad_fn.next_functions[0][0].register_prehook(lambda gs: (gs[0] * 100,))
    y.backward()
    del y
    (x * 1).backward()
    assert x.grad.item() == 202.0


def test_a_node_hook_may_replace_what_arrives_or_leaves():
    x, y = leaf(1.0), leaf(2.0)
    z = x * y
    z.grad_fn.register_prehook(lambda gs: (gs[0] * 10,))
    z.grad_fn.register_hook(lambda gi, go: (gi[0] + go[0], None))
    z.backward()
    assert x.grad.item() == 30.0
    assert y.grad is None


def test_hooks_are_checked():
    def f(g):
        return mt.ones(3)

    x = leaf(1.0)
    x.register_hook(f)
    with pytest.raises(GradientError, match="hook 'f' has changed the size of value"):
        (x * 2).backward()
    y = leaf(1.0)
    y.register_hook(lambda g: 3)
    with pytest.raises(TypeError, match="expected Variable, but hook returned 'int'"):
        (y * 2).backward()
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        mt.tensor(1.0).register_hook(f)
    with pytest.raises(RuntimeError, match="non-leaf"):
        (y * 2).register_post_accumulate_grad_hook(lambda t: None)


def test_hooks_on_inputs_of_grad_run_where_the_walk_ends():
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    z = y * 3
    assert mt.autograd.grad(z, y, retain_graph=True)[0].item() == 30.0
    assert [one.item() for one in mt.autograd.grad(z, [y, x])] == [3.0, 60.0]


def test_retain_grad_follows_the_tensor_and_hooks_stay_with_the_value():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    seen = []
    y.register_hook(lambda g: seen.append(g.item()))
    y.mul_(5)
    (y * 3).backward()
    assert y.grad.item() == 3.0
    assert seen == [15.0]


def test_retain_grad_accumulates_and_is_no_use_without_grad():
    x = leaf(2.0)
    y = x * x
    y.retain_grad()
    y.backward(retain_graph=True)
    y.backward()
    assert y.grad.item() == 2.0
    with pytest.raises(RuntimeError, match="can't retain_grad"):
        mt.tensor(1.0).retain_grad()


def test_a_hook_may_step_the_leaf_at_once():
    x = leaf(3.0)

    def step(t):
        t.sub_(0.1 * t.grad)
        t.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * x).backward()
    assert x.item() == pytest.approx(2.4)
    assert x.grad is None


def test_hooks_can_be_differentiated_through():
    x = leaf(2.0)
    y = x * x
    y.register_hook(lambda g: g * x)
    (g,) = mt.autograd.grad(y, x, create_graph=True)
    assert g.item() == 8.0
    assert mt.autograd.grad(g, x)[0].item() == 8.0


def gradients_seen_after(node, run):
    """What a post-hook of the node sees of the gradients of its inputs."""
    seen = []
    node.register_hook(lambda grad_inputs, grad_outputs: seen.extend(grad_inputs))
    run()
    return [None if one is None else one.tolist() for one in seen]


def test_a_hook_sees_none_for_what_no_node_receives():
    x, y = leaf(2.0), leaf(3.0)
    z = x * y
    assert gradients_seen_after(z.grad_fn, lambda: mt.autograd.grad(z, x)) == [[3.0], None]
    base = x * 1
    base[:].mul_(y)
    node = base.grad_fn
    assert gradients_seen_after(node, lambda: mt.autograd.grad(base, x)) == [[3.0], None]


def test_a_hook_of_a_function_sees_what_its_backward_returned():
    class Product(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, g):
            return g * 3, g * 2

    x, y = leaf(2.0), leaf(3.0)
    z = Product.apply(x, y)
    assert gradients_seen_after(z.grad_fn, lambda: mt.autograd.grad(z, x)) == [[3.0], [2.0]]


def test_the_hooks_of_a_single_root_run_whatever_is_asked_for():
    x, other, seen = leaf(2.0), leaf(1.0), []
    y = x * 2
    y.register_hook(lambda g: seen.append(g.item()))
    assert mt.autograd.grad(y, other, allow_unused=True) == (None,)
    assert seen == [1.0]


@pytest.mark.filterwarnings("ignore:Using backward")
def test_a_leafs_post_hooks_see_tensors_if_the_pass_is_recorded():
    x, seen = leaf(2.0), []
    y = x * x
    y.grad_fn.next_functions[0][0].register_hook(lambda nothing, gradients: seen.extend(gradients))
    y.backward(create_graph=True)
    assert x.grad.requires_grad
    assert seen[0].requires_grad
    y.backward(mt.zeros(1))
    assert [one.tolist() for one in seen] == [[4.0], [0.0]]


def test_an_observer_is_told_the_first_gradient_before_and_after_a_pre_hook():
    class Listener(Watcher):
        def hook_ran(self, task, kind, hook, before, after):
            told.append((kind, float(before[0]), float(after[0])))

    told, listener = [], Listener()
    a, b = (leaf(1.0, 2.0) * 1).split(1)
    a.grad_fn.register_prehook(lambda gradients: (gradients[0] * 5, gradients[1] * 7))
    watch.join(listener)
    try:
        (a * 2 + b * 3).sum().backward()
    finally:
        watch.leave(listener)
    assert told == [("node pre", 2.0, 10.0)]


def test_what_a_hook_switches_is_switched_back_after_its_node():
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: mt.autograd.set_multithreading_enabled(False) and None)
    y.backward()
    assert settings.multithreading


def test_hooks_of_saved_tensors_are_those_again_that_held_before_a_node():
    def hooks(name):
        return mt.autograd.graph.saved_tensors_hooks(lambda x: packed.append(name) or x, lambda x: x)

    packed, x = [], leaf(1.0)
    outer, other = hooks("outer"), hooks("other")
    y = x * 2
    with outer:

        def exchange(g):
            outer.__exit__(None, None, None)
            other.__enter__()

        y.register_hook(exchange)
        y.backward()
        _ = x * x
    assert packed == ["outer", "outer"]
    _ = x * x
    assert packed == ["outer", "outer"]


def test_a_recording_shows_the_first_gradient_before_and_after_a_hook_of_a_node():
    x = mt.tensor(2.0, requires_grad=True)
    y = mt.tensor(3.0, requires_grad=True)
    z = x * y
    z.grad_fn.register_hook(lambda computed, arrived: (computed[0] * 10, computed[1] * 100))
    (call,) = mt.record(z.backward).passes[0].steps[0].hooks
    assert (call.before, call.after) == (3.0, 30.0)
    assert (x.grad.item(), y.grad.item()) == (30.0, 200.0)
