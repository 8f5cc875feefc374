"""Writing to tensors that are part of a graph: versions, views, and the errors."""

from __future__ import annotations

import pytest

import microtape as mt
from microtape.errors import DetachedInPlaceError, InPlaceError, ModifiedInPlaceError


def leaf(*values):
    return mt.tensor(list(values), requires_grad=True)


def test_every_write_counts_one_on_a_version_that_views_share():
    x = mt.tensor([[1.0, 2.0], [3.0, 4.0]])
    view, detached, data = x[0], x.detach(), x.data
    x.add_(1)
    view.mul_(2)
    detached.zero_()
    x[0, 1] = 5
    assert (x._version, view._version, detached._version, data._version) == (4, 4, 4, 0)


def test_a_write_gives_the_tensor_a_new_history():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    y = x * 1
    before = y.grad_fn
    y.mul_(w)
    assert y.grad_fn is not before
    assert y.grad_fn.next_functions[0][0] is before
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 4.0]
    assert w.grad.tolist() == [1.0, 2.0]


def test_leaves_and_their_views_refuse_unless_nobody_records():
    x = leaf(1.0, 2.0)
    with pytest.raises(InPlaceError, match=r"^a leaf Variable"):
        x.add_(1)
    with pytest.raises(InPlaceError, match=r"^a view of a leaf Variable"):
        x[0].add_(1)
    with mt.no_grad():
        x.add_(1)
    assert x.is_leaf
    assert x.tolist() == [2.0, 3.0]


def test_what_was_saved_must_not_change():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    for write in (lambda y: y.add_(1), lambda y: y[0].zero_(), lambda y: y.detach().zero_()):
        y = x * 1
        z = y * w
        write(y)
        with pytest.raises(ModifiedInPlaceError, match="at version 1; expected version 0"):
            z.sum().backward()


def test_what_was_not_saved_may_change():
    x = leaf(1.0, 2.0)
    y = x * 1
    z = (y + 1).sum() + y.exp().sum()
    y.zero_()
    z.backward()
    assert x.grad.tolist() == pytest.approx([1 + 2.7182817, 1 + 7.389056])


def test_data_is_not_watched():
    x = leaf(1.0, 2.0)
    y = x.exp()
    y.data.zero_()
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_an_operand_may_be_overwritten_by_the_write_that_saved_it():
    x = leaf(3.0)
    y = x * 1
    y.mul_(y)
    with pytest.raises(ModifiedInPlaceError):
        y.backward()


def test_writing_into_a_view_rewrites_the_base():
    x, w = leaf(1.0, 2.0, 3.0), leaf(10.0)
    y = x * 2
    y[:1].mul_(w)
    assert y.grad_fn.name() == "torch::autograd::CopySlices"
    y.sum().backward()
    assert x.grad.tolist() == [20.0, 2.0, 2.0]
    assert w.grad.tolist() == [2.0]


def test_other_views_see_the_write_too():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 2
    first, last = y[:2], y[1:]
    first.mul_(5)
    assert last.grad_fn.name() == "AsStridedBackward0"
    last.sum().backward()
    assert x.grad.tolist() == [0.0, 10.0, 2.0]


def test_assigning_to_a_part_cuts_its_history():
    x, v = leaf(1.0, 2.0, 3.0), mt.tensor(7.0, requires_grad=True)
    y = x * 2
    y[1] = v
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 0.0, 2.0]
    assert v.grad.item() == 1.0


def test_what_was_broadcast_into_a_part_is_summed_back():
    row = leaf(1.0, 2.0)
    y = mt.zeros(3, 2)
    y[:] = row
    (y * mt.tensor([[1.0, 1.0], [10.0, 10.0], [100.0, 100.0]])).sum().backward()
    assert row.grad.tolist() == [111.0, 111.0]


@pytest.mark.parametrize("transposed", [False, True])
def test_views_of_views_in_any_order_of_memory(transposed):
    x = mt.arange(6.0).reshape(2, 3).requires_grad_()
    y = (x.t().clone() if transposed else x).clone()
    (y if not transposed else y.t())[1].view(-1)[1:].mul_(10)
    y.sum().backward()
    assert x.grad.tolist() == [[1.0, 1.0, 1.0], [1.0, 10.0, 10.0]]


def test_a_view_of_an_expanded_view_can_lose_its_base():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    wide = y.expand(2, 3)
    y.mul_(2)
    wide.sum().backward()
    assert x.grad.tolist() == [4.0, 4.0, 4.0]


def test_writes_can_be_differentiated_twice():
    x = leaf(0.5, 2.0)
    y = x * x
    y[:1].exp_()
    (g,) = mt.autograd.grad((y * y).sum(), x, create_graph=True)
    (h,) = mt.autograd.grad(g.sum(), x)
    e = mt.tensor(0.5).exp().item()  # d²/dx² exp(2x²) = (4 + 16x²) exp(2x²)
    assert h.tolist() == pytest.approx([(4 + 16 * 0.25) * e, 12 * 4.0], rel=1e-5)


def test_several_views_of_one_operation_refuse():
    y = leaf(1.0, 2.0, 3.0) * 2
    for view in (y.unbind(0)[0], y.split(2)[0], y.chunk(2)[1]):
        with pytest.raises(InPlaceError, match="returns multiple views"):
            view.mul_(2)


def test_a_view_made_without_grad_mode_refuses():
    y = leaf(1.0, 2.0) * 2
    with mt.no_grad():
        view = y[0]
    with pytest.raises(InPlaceError, match="created in no_grad mode and is being modified"):
        view.mul_(2)
    y.mul_(2)
    with pytest.raises(InPlaceError, match="its base or another view of its base has been modified"):
        _ = view.grad_fn
    assert repr(view) == "tensor(4., grad_fn=<Invalid>)"


def test_detach_in_place():
    x = leaf(1.0, 2.0)
    y = x * 2
    z = y * y
    y.detach_()
    assert y.grad_fn is None
    with pytest.raises(DetachedInPlaceError):
        z.sum().backward()
    with pytest.raises(InPlaceError, match="Can't detach views in-place"):
        (x * 2)[0].detach_()


def test_results_must_fit():
    x = mt.tensor([1, 2])
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        x.add_(1.5)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        x.add_(mt.tensor([[1, 2], [3, 4]]))
    y = mt.zeros(3)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        y[1:].add_(y[:2])
    with pytest.raises(RuntimeError, match="refers to a single memory location"):
        mt.zeros(1).expand(3).add_(1)
