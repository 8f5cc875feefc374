"""Inspecting a graph from outside: nodes, hooks on several tensors, probes of the engine, version counters."""

import threading

import pytest

import microtape as mt
from microtape.autograd import Variable, graph
from microtape.errors import FreedGraphError, ModifiedInPlaceError


def leaf(data):
    return mt.tensor(data, requires_grad=True)


def queue(callback):
    Variable._execution_engine.queue_callback(callback)


# Nodes


def test_a_called_node_gives_the_gradients_of_its_inputs():
    x, y = leaf([1.0, 2.0]), leaf([3.0])
    to_x, to_y = (x * y).grad_fn(mt.tensor([10.0, 100.0]))
    assert to_x.tolist() == [30.0, 300.0]
    assert to_y.tolist() == [210.0]  # summed down to y's shape


def test_what_a_called_node_computes_is_recorded_if_the_mode_says_so():
    x = leaf([3.0])
    gradient = (x**2).grad_fn(mt.ones(1))
    gradient.backward()
    assert x.grad.item() == 2.0
    with mt.no_grad():
        assert not (x**2).requires_grad
    node = (x**2).grad_fn
    with mt.no_grad():
        assert not node(mt.ones(1)).requires_grad


def test_a_called_leaf_accumulates():
    x = leaf([3.0])
    node = graph.get_gradient_edge(x).node
    given = mt.ones(1)
    assert node(given) == ()
    assert node(given) == ()
    assert x.grad.item() == 2.0
    assert given.item() == 1.0


def test_a_called_node_of_a_write_into_a_view():
    x = leaf([1.0, 2.0])
    y = x * 1
    y[0:1].mul_(5)
    to_base = y.grad_fn(mt.ones(2))
    assert to_base[0].tolist() == [5.0, 1.0]


def test_calling_a_node_wrongly():
    x = leaf([1.0])
    node = (x * x).grad_fn
    with pytest.raises(TypeError, match="expected 1 arguments, got 0 instead"):
        node()
    with pytest.raises(TypeError, match="argument 0 is not a Variable"):
        node(1.0)
    node(mt.ones(1))
    (x * x).backward()
    y = x * x
    y.backward()
    with pytest.raises(FreedGraphError):
        y.grad_fn(mt.ones(1))


def test_a_node_knows_the_shapes_of_its_outputs():
    (entry,) = leaf([[1.0, 2.0]]).sum(0).grad_fn._input_metadata
    assert (entry.shape, entry.dtype, entry.device) == ((2,), mt.float32, "cpu")


def test_numbers_set_by_hand_change_the_order_and_no_gradient():
    x = leaf([1.0])
    a = x * 2
    b = a * 3
    c = x * 5
    total = b + c
    b.grad_fn._set_sequence_nr(0)  # edges no longer lead to lower numbers
    ran = []
    for name, tensor in (("a", a), ("b", b), ("c", c)):
        tensor.register_hook(lambda grad, name=name: ran.append(name))
    total.backward(retain_graph=True)
    assert ran == ["c", "b", "a"]
    assert x.grad.item() == 11.0
    assert mt.autograd.grad(total, a, retain_graph=True)[0].item() == 3.0
    assert mt.autograd.grad(total, x, retain_graph=True)[0].item() == 11.0


def test_a_recording_of_a_graph_with_numbers_set_by_hand():
    x = leaf([1.0])
    a = x * 2
    b = a.exp()
    a.grad_fn._set_sequence_nr(10**9)
    recording = mt.record(b.backward)
    assert recording.error is None
    assert [node.name for node in recording.nodes] == ["AccumulateGrad", "MulBackward0", "ExpBackward0"]
    assert all(edge.node is None or edge.node < node.id for node in recording.nodes for edge in node.edges)


# Hooks on several tensors


def test_all_waits_for_the_last_gradient_that_this_pass_computes():
    x, y, z = leaf([1.0]), leaf([2.0]), leaf([3.0])
    calls = []
    graph.register_multi_grad_hook((x, y, z), calls.append)
    (x * y).backward()
    assert [grad and grad.item() for grad in calls[0]] == [2.0, 1.0, None]
    assert len(calls) == 1
    (z * z).backward()
    assert [grad and grad.item() for grad in calls[1]] == [None, None, 6.0]


def test_all_with_a_leaf_that_is_an_input_of_grad_is_refused_as_in_torch():
    x, y = leaf([1.0]), leaf([2.0])
    graph.register_multi_grad_hook((x, y), lambda gradients: None)
    with pytest.raises(RuntimeError, match="not supported"):
        mt.autograd.grad(x * y, (x, y))


def test_any_acts_on_the_first_gradient_of_each_pass():
    x, y = leaf([1.0]), leaf([2.0])
    calls = []
    handle = graph.register_multi_grad_hook((x, y), calls.append, mode="any")
    for _ in range(2):
        (x * y).backward()
    assert len(calls) == 2
    handle.remove()
    handle.remove()
    (x * y).backward()
    assert len(calls) == 2


def test_a_pass_that_fails_leaves_nothing_behind():
    x, y = leaf([1.0]), leaf([2.0])
    calls = []
    fails = y.register_hook(lambda grad: 1 / 0)
    graph.register_multi_grad_hook((x, y), calls.append)
    with pytest.raises(ZeroDivisionError):
        (x * y).backward()
    fails.remove()
    (x * y).backward()
    assert len(calls) == 1


def test_a_hook_on_what_has_no_gradient():
    with pytest.raises(AssertionError):
        graph.register_multi_grad_hook((mt.ones(1),), print)
    with pytest.raises(ValueError, match="Expects mode to be one of"):
        graph.register_multi_grad_hook((leaf([1.0]),), print, mode="some")


# Probes


def test_probes_see_the_task_and_the_node():
    x = leaf([1.0])
    y = x * 2
    seen = []
    y.register_hook(lambda grad: seen.append((mt._C._current_graph_task_id(), mt._C._current_autograd_node())))
    y.backward()
    assert seen[0][0] >= 0
    assert seen[0][1] is y.grad_fn
    assert mt._C._current_graph_task_id() == -1
    assert mt._C._current_autograd_node() is None


def test_probes_see_their_own_thread():
    x = leaf([1.0])
    y = x * 2
    inside, asked = threading.Event(), threading.Event()
    y.register_hook(lambda grad: (inside.set(), asked.wait(5), None)[-1])
    thread = threading.Thread(target=y.backward)
    thread.start()
    assert inside.wait(5)
    assert mt._C._current_autograd_node() is None
    asked.set()
    thread.join()


def test_the_remaining_order_is_the_order_that_follows():
    x, y = leaf([1.0]), leaf([2.0])
    total = ((x * y).exp() + x * 3) * y
    ran, foretold = [], []
    nodes, stack = set(), [total.grad_fn]
    while stack:
        node = stack.pop()
        if node not in nodes:
            nodes.add(node)
            stack += [following for following, _ in node.next_functions if following is not None]
    for node in nodes:

        def before(grads, node=node):
            ran.append(node)
            foretold.append(mt._C._current_graph_task_execution_order())

        node.register_prehook(before)
    total.backward()
    assert len(ran) == len(nodes)
    for position, order in enumerate(foretold):
        assert order == ran[position:]


def test_callbacks_run_after_the_last_node_and_may_queue_more():
    x = leaf([1.0])
    y = x * 2
    told = []
    y.register_hook(lambda grad: queue(lambda: (told.append(x.grad.item()), queue(lambda: told.append("more")))))
    y.backward()
    assert told == [2.0, "more"]
    with pytest.raises(RuntimeError, match="Final callbacks can only be installed during backward pass"):
        queue(print)


def test_an_error_in_a_callback_surfaces_and_the_mode_is_restored():
    x = leaf([1.0])
    y = x * 2
    y.register_hook(lambda grad: queue(lambda: 1 / 0))
    with pytest.raises(ZeroDivisionError):
        y.backward()
    assert mt.is_grad_enabled()
    assert x.grad.item() == 2.0


# Writes that autograd cannot see


def test_a_counted_write_is_found_by_backward_with_its_line():
    x = leaf([1.0])
    y = x * 1
    z = y * y
    y.detach().numpy()[0] = 5.0
    graph.increment_version(y)
    with pytest.raises(ModifiedInPlaceError) as error:
        z.backward()
    assert [site.expression() for _, site in error.value.places] == ["y * y", "graph.increment_version(y)"]


def test_only_tensors_are_counted():
    with pytest.raises(RuntimeError, match="expect a Iterable"):
        graph.increment_version(3)
    with pytest.raises(RuntimeError, match="expects each element"):
        graph.increment_version([3])


def test_a_called_leaf_refuses_a_gradient_with_more_dimensions():
    x = leaf([1.0, 2.0])
    node = (x * 2).grad_fn.next_functions[0][0]
    with pytest.raises(RuntimeError, match=r"output with shape \[2\] doesn't match the broadcast shape \[1, 2\]"):
        node(mt.ones(1, 2))
