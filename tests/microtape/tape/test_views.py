"""Views whose base is written to."""

from __future__ import annotations

import pytest

import microtape as mt


@pytest.mark.parametrize(("shape", "to"), [((3,), (2, 3)), ((1,), (3,)), ((2, 1), (2, 3)), ((1, 3), (4, 2, 3))])
def test_an_expanded_view_adds_its_gradients_up_after_a_write_to_its_base(shape, to):
    x = mt.ones(shape, requires_grad=True)
    base = x * 1
    view = base.expand(to)
    base.mul_(2)
    view.sum().backward()
    assert view.grad_fn.name() == "AsStridedBackward0"
    assert x.grad.tolist() == mt.full(shape, 2.0 * view.numel() / base.numel()).tolist()


@pytest.mark.parametrize("rows", [2, 4])
def test_a_view_of_several_steps_adds_them_up_at_the_right_one(rows):
    x = mt.ones(3, 1, requires_grad=True)
    base = x * 1
    view = base.view(3).expand(rows, 3)
    base.mul_(2)
    view.sum().backward()
    assert x.grad.tolist() == [[2.0 * rows]] * 3


def test_tensors_of_the_same_elements_may_be_multiplied_in_place_whatever_their_unused_strides():
    x = mt.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    row, same_row = x[:1], x[::2][:1]
    assert row.stride() != same_row.stride()
    assert row.mul_(same_row).tolist() == [[1.0, 4.0, 9.0]]


def test_an_index_cannot_write_a_tensor_into_itself():
    x = mt.ones(3)
    with pytest.raises(RuntimeError, match=r"overlap|single memory"):
        x.index_put_((mt.tensor([2, 1, 0]),), x)
