"""The engine: the guarantees of `backward` and `grad`."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

import microtape as mt
from microtape.errors import FreedGraphError, InPlaceError, ModifiedInPlaceError, NoGraphError, UnusedInputError


def leaf(*values):
    return mt.tensor(list(values), requires_grad=True)


def order_of(run):
    with mt.record() as recorder:
        run()
    (one,) = recorder.recording.passes
    return [recorder.recording.nodes[step.node].name for step in one.steps]


def test_a_product_and_a_sum():
    x, y = leaf(2.0, 3.0), leaf(4.0, 5.0)
    ((x * y) * (x + y)).sum().backward()
    assert x.grad.tolist() == [32.0, 55.0]
    assert y.grad.tolist() == [20.0, 39.0]


def test_nodes_run_latest_first_and_each_leaf_as_soon_as_it_is_ready():
    a, b = leaf(1.0), leaf(2.0)
    c, d = 2 * a, 3 * b
    e = c * d
    assert order_of(e.backward) == ["MulBackward0", "MulBackward0", "AccumulateGrad", "MulBackward0", "AccumulateGrad"]
    c, d = (2 * a).exp(), 3 * b
    e = c * d
    names = order_of(e.backward)
    assert names == ["MulBackward0", "MulBackward0", "AccumulateGrad", "ExpBackward0", "MulBackward0", "AccumulateGrad"]


def test_leaves_that_become_ready_together_run_in_the_order_of_arrival():
    order, leaves = [], [leaf(1.0) for _ in range(6)]
    for i, one in enumerate(leaves):
        one.register_hook(lambda gradient, i=i: order.append(i))
    mt.stack(leaves).sum().backward()
    assert order == [0, 1, 2, 3, 4, 5]


def test_a_node_waits_for_all_of_its_gradients():
    x = leaf(3.0)
    a = x * x
    b = a + a * a + a.exp() * 0
    b.backward()
    assert x.grad.item() == pytest.approx(6 + 4 * 27)


def test_gradients_add_up_over_calls_and_roots():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    (x * x).sum().backward()
    mt.autograd.backward([x.sum(), (3 * x).sum()])
    assert x.grad.tolist() == [8.0, 12.0]


def test_grad_leaves_the_leaves_alone():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    z = (x * y).sum()
    assert [one.tolist() for one in mt.autograd.grad(z, [x, y])] == [[3.0, 4.0], [1.0, 2.0]]
    assert x.grad is None


def test_grad_stops_at_what_was_asked_for():
    x = leaf(1.0, 2.0)
    y = x * x
    z = (y * 3).sum()
    assert order_of(lambda: mt.autograd.grad(z, y)) == ["SumBackward0", "MulBackward0"]


def test_an_unused_input_is_an_error_or_none_or_zeros():
    x, y = leaf(1.0), leaf(2.0)
    z = x * 2
    with pytest.raises(UnusedInputError, match="index 1"):
        mt.autograd.grad(z, [x, y], retain_graph=True)
    assert mt.autograd.grad(z, [x, y], allow_unused=True, retain_graph=True)[1] is None
    assert mt.autograd.grad(z, [x, y], materialize_grads=True)[1].tolist() == [0.0]


def test_inputs_says_what_accumulates():
    x, y = leaf(2.0), leaf(3.0)
    z = x * y
    (z * z).backward(inputs=[x, z])
    assert (x.grad.item(), z.grad.item(), y.grad) == (36.0, 12.0, None)


def test_the_first_gradient_is_one_only_for_one_element():
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        (x * 2).backward()
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        (x * 2).backward(mt.tensor([1.0]))
    (x * 2).backward(mt.tensor([1.0, 10.0]))
    assert x.grad.tolist() == [2.0, 20.0]


def test_a_root_without_history_is_an_error():
    with pytest.raises(NoGraphError, match="does not require grad"):
        mt.tensor(1.0).backward()


def test_a_graph_is_freed_by_backward_unless_it_is_retained():
    x = leaf(2.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(FreedGraphError, match="a second time"):
        y.backward()
    assert x.grad.item() == 8.0


def test_create_graph_records_the_backward_pass():
    x = leaf(2.0)
    (first,) = mt.autograd.grad(x**4, x, create_graph=True)
    (second,) = mt.autograd.grad(first, x, create_graph=True)
    (third,) = mt.autograd.grad(second, x)
    assert [one.item() for one in (first, second, third)] == [32.0, 48.0, 48.0]


def test_a_first_gradient_can_be_differentiated_too():
    x, v = leaf(2.0), leaf(5.0)
    (g,) = mt.autograd.grad(x * x, x, v, create_graph=True)
    g.backward()
    assert (x.grad.item(), v.grad.item()) == (10.0, 4.0)


def test_an_error_names_the_lines_that_led_to_it():
    x = leaf(1.0, 2.0)
    y = x * 2
    z = y * y
    y.add_(1)
    with pytest.raises(ModifiedInPlaceError) as caught:
        z.sum().backward()
    saved, modified = str(caught.value).splitlines()[1:]
    assert "saved" in saved
    assert saved.endswith("y * y")
    assert "modified" in modified
    assert modified.endswith("y.add_(1)")


def test_a_long_chain_is_walked_and_freed_without_recursion():
    x = leaf(1.0)
    y = x
    for _ in range(150_000):
        y = y + 1
    y.backward()
    assert x.grad.item() == 1.0
    del y


def test_a_graph_dies_with_its_last_result():
    gc.disable()
    try:
        x = leaf(1.0, 2.0)
        base = (x * x).exp() * 1
        base[0] = base[1] * 2
        base[:1].exp_()
        node = weakref.ref(base.grad_fn)
        loss = base.sum()
        loss.backward()
        del base, loss
        assert node() is None
    finally:
        gc.enable()


def test_a_hook_may_keep_the_gradient_it_saw():
    x = leaf(1.0, 2.0)
    seen = []
    x.register_hook(seen.append)
    (x + x * x + x.exp() * 0).sum().backward()
    (x * 5).sum().backward()
    assert seen[0].tolist() == [3.0, 5.0]


def test_grad_never_aliases_what_the_caller_gave():
    x, v = leaf(1.0, 2.0), mt.tensor([1.0, 1.0])
    x.backward(v)
    x.backward(v)
    assert v.tolist() == [1.0, 1.0]


def test_backward_may_be_called_inside_of_backward():
    x, y = leaf(2.0), leaf(3.0)

    class Inner(mt.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 2

        @staticmethod
        def backward(ctx, g):
            with mt.enable_grad():
                (y * y).sum().backward()
            return g * 2

    Inner.apply(x).backward()
    assert (x.grad.item(), y.grad.item()) == (2.0, 6.0)


def test_after_an_error_the_next_pass_works():
    x = leaf(2.0)
    y = x * x
    handle = y.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        y.backward()
    handle.remove()
    assert mt.is_grad_enabled()
    (x * x).backward()
    assert x.grad.item() == 4.0


def test_each_thread_has_its_own_mode_and_pass():
    x = leaf(2.0)
    found = []

    def work():
        found.append(mt.is_grad_enabled())
        found.append(mt.autograd.grad(x * x, x)[0].item())

    with mt.no_grad():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert found == [True, 4.0]


def test_a_leaf_that_became_a_result_is_refused():
    x, y = leaf(1.0), leaf(2.0)
    z = x + y
    x.requires_grad_(False)
    x.mul_(y)
    with pytest.raises(InPlaceError, match="moved into the graph interior"):
        z.backward()


def test_a_gradient_edge_stands_for_a_tensor_and_keeps_its_graph():
    x = leaf(3.0)
    edge = mt.autograd.graph.get_gradient_edge(x * x)
    assert mt.autograd.grad(edge, x, mt.tensor([1.0]))[0].item() == 6.0


def test_a_node_can_be_called():
    x, y = leaf(2.0), leaf(3.0)
    assert [one.item() for one in (x * y).grad_fn(mt.tensor([10.0]))] == [30.0, 20.0]
    with pytest.raises(TypeError, match="expected 1 arguments, got 0 instead"):
        (x * y).grad_fn()


def test_sequence_numbers_set_by_hand_change_the_order():
    x = leaf(1.0)
    a, b = x.sin(), x.exp()
    c = a + b
    assert order_of(lambda: c.backward(retain_graph=True))[1] == "ExpBackward0"
    a.grad_fn._set_sequence_nr(b.grad_fn._sequence_nr() + 1)
    assert order_of(c.backward)[1] == "SinBackward0"


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=12), st.permutations(range(1, 14))
)
def test_whatever_the_numbers_the_highest_ready_node_is_next(operands, numbers):
    made = [leaf(1.0) * 2]
    for i, j in operands:
        made.append(made[i % len(made)] + made[j % len(made)])
    total = mt.stack(made).sum()
    nodes = {one.grad_fn: number for one, number in zip(made, numbers, strict=False)}
    ran = []
    for node, number in nodes.items():
        node._set_sequence_nr(number)
        node.register_prehook(lambda _, node=node: ran.append(node))
    total.backward()
    assert set(ran) == set(nodes)
    for position, node in enumerate(ran):
        later = ran[position:]
        waited_for = {following for one in later for following, _ in one.next_functions}
        assert node == max((one for one in later if one not in waited_for), key=nodes.get)


def test_a_view_that_no_longer_requires_grad_gets_no_gradient():
    view = mt.ones(2).view(2).requires_grad_()
    y = view * 2
    view.requires_grad_(False)
    y.sum().backward()
    assert view.grad is None
