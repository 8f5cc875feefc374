"""Facts about torch on which its recorder rests: how long nodes and what is attached to them live, and their numbers.

A new version of torch that breaks one of them is noticed here first.
"""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

from tests.parity.pytorch.watching import ACCUMULATE_NR, name, torch_since, walk


def multiply_function(torch):
    class Multiply(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx, gradient):
            a, b = ctx.saved_tensors
            return gradient * b, gradient * a

    return Multiply


class Attached:
    """An object that can be referenced weakly."""


def test_the_object_of_a_node_stays_the_same_while_somebody_holds_it(torch):
    y = torch.ones(3, requires_grad=True) * 2
    z = y.exp()
    node = y.grad_fn
    assert y.grad_fn is node
    assert z.grad_fn.next_functions[0][0] is node
    assert hash(node) == object.__hash__(node)


def test_a_node_keeps_its_object_since_torch_2_13(torch):
    """Before, the object dies when nobody holds it, and its id may come again as that of another node."""

    def comes_again():
        y = torch.ones(3, requires_grad=True) * 2
        first = id(y.grad_fn)
        others = [torch.ones(3, requires_grad=True) * 2 for _ in range(100)]
        held = [one.grad_fn for one in others]
        return first in {id(node) for node in held}

    assert any([comes_again() for _ in range(20)]) == (not torch_since("2.13"))


def test_the_object_of_a_node_dies_with_the_node(torch):
    def objects():
        gc.collect()
        return sum(type(one).__name__ == "ErfinvBackward0" for one in gc.get_objects())

    z = torch.zeros(3, requires_grad=True).erfinv().sum()
    walk(z.grad_fn)
    assert objects() == torch_since("2.13")
    del z
    assert objects() == 0


def test_a_node_of_cpp_takes_neither_weak_references_nor_attributes(torch):
    multiplied = (torch.ones(3, requires_grad=True) * 2).grad_fn
    for node in (multiplied, multiplied.next_functions[0][0]):
        with pytest.raises(TypeError, match="weak reference"):
            weakref.ref(node)
        with pytest.raises(AttributeError):
            node.noted = 1


def test_a_node_of_a_function_takes_weak_references_and_attributes(torch):
    x = torch.ones(3, requires_grad=True)
    y = multiply_function(torch).apply(x, x)
    y.grad_fn.noted = 1
    assert weakref.ref(y.grad_fn)() is y.grad_fn
    assert y.grad_fn.noted == 1


def test_the_object_of_a_functions_node_keeps_the_node_alive_since_torch_2_13(torch):
    x = torch.ones(3, requires_grad=True)
    y = multiply_function(torch).apply(x, x)
    node = y.grad_fn
    del y
    gc.collect()
    if torch_since("2.13"):
        assert node.metadata == {}
        assert len(node.next_functions) == 2
    else:
        with pytest.raises(RuntimeError, match="already been deallocated"):
            _ = node.metadata


def test_metadata_outlives_the_object_of_the_node(torch):
    y = torch.ones(3, requires_grad=True) * 2
    y.grad_fn.metadata["noted"] = 1
    gc.collect()
    assert y.grad_fn.metadata == {"noted": 1}


def test_metadata_is_reached_from_the_nodes_after_it(torch):
    y = torch.ones(3, requires_grad=True) * 2
    y.grad_fn.metadata["noted"] = 1
    z = (y + 1).sum()
    del y
    gc.collect()
    nodes, _ = walk(z.grad_fn)
    assert [node.metadata for node in nodes if name(node) == "MulBackward0"] == [{"noted": 1}]


def test_metadata_dies_with_the_node(torch):
    y, attached = torch.ones(3, requires_grad=True) * 2, Attached()
    y.grad_fn.metadata["noted"] = attached
    alive = weakref.ref(attached)
    del attached
    gc.collect()
    assert alive() is not None
    del y
    gc.collect()
    assert alive() is None


def test_sequence_numbers_rise_by_one_from_0_in_each_thread(torch):
    x, numbers = torch.ones(3, requires_grad=True), []
    thread = threading.Thread(target=lambda: numbers.extend((x * 2).grad_fn._sequence_nr() for _ in range(3)))
    thread.start()
    thread.join()
    here = [(x * 2).grad_fn._sequence_nr() for _ in range(3)]
    assert numbers == [0, 1, 2]
    assert [number - here[0] for number in here] == [0, 1, 2]


def test_the_next_sequence_number_can_be_asked_for(torch):
    number = torch._C._autograd._get_sequence_nr()
    y = torch.ones(3, requires_grad=True) * 2
    assert y.grad_fn._sequence_nr() == number
    assert torch._C._autograd._get_sequence_nr() == number + 1


def test_all_accumulate_grad_nodes_have_the_highest_sequence_number(torch):
    leaves = [torch.ones(3, requires_grad=True) for _ in range(3)]
    ends = [node for node, _ in torch.cat(leaves).grad_fn.next_functions]
    assert {node._sequence_nr() for node in ends} == {ACCUMULATE_NR}


@pytest.mark.parametrize(("roots", "taken"), [(1, 0), (2, 1)])
def test_a_pass_from_several_roots_takes_a_sequence_number(torch, roots, taken):
    outputs = [torch.ones(1, requires_grad=True) * 2 for _ in range(roots)]
    number = torch._C._autograd._get_sequence_nr()
    torch.autograd.backward(outputs)
    assert torch._C._autograd._get_sequence_nr() == number + taken


def test_an_operation_on_a_view_in_place_takes_more_than_one_sequence_number(torch):
    x = torch.ones(2, 3, requires_grad=True) * 1
    row, number = x[0], torch._C._autograd._get_sequence_nr()
    row.mul_(2)
    assert torch._C._autograd._get_sequence_nr() > number + 1
    assert number <= x.grad_fn._sequence_nr() < torch._C._autograd._get_sequence_nr()


def test_names_of_nodes(torch):
    x = torch.ones(3, requires_grad=True)
    assigned = x * 1
    assigned[0] = 2.0
    assert (x * 1).grad_fn.name() == "MulBackward0"
    assert (x * 1).grad_fn.next_functions[0][0].name() == "torch::autograd::AccumulateGrad"
    assert assigned.grad_fn.name() == "torch::autograd::CopySlices"
    assert multiply_function(torch).apply(x, x).grad_fn.name() == "MultiplyBackward"


def test_a_leaf_has_one_accumulate_grad_node_while_it_is_held(torch):
    leaf = torch.ones(3, requires_grad=True)
    node = (leaf * 2).grad_fn.next_functions[0][0]
    assert (leaf * 3).grad_fn.next_functions[0][0] is node
    assert node.variable is leaf
    node.metadata["noted"] = 1
    del node
    gc.collect()
    assert (leaf * 3).grad_fn.next_functions[0][0].metadata == {}


def test_the_shapes_and_dtypes_of_the_outputs_of_a_node_can_be_read_since_torch_2_5(torch):
    node = torch.split(torch.ones(5, requires_grad=True) * 1, 3)[0].grad_fn
    assert hasattr(node, "_input_metadata") == torch_since("2.5")
    if torch_since("2.5"):
        assert [(tuple(one.shape), one.dtype) for one in node._input_metadata] == [
            ((3,), torch.float32),
            ((2,), torch.float32),
        ]
