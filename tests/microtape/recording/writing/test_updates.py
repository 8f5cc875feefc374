"""Updates of leaves, as a recording keeps them."""

from __future__ import annotations

import numpy as np
import pytest

import microtape as mt
from microtape.recording import Recording, record
from microtape.recording.file.tape_file import load, save


def trained(update: object) -> Recording:
    """Two passes of w² + b, with an update after each."""

    def program() -> None:
        w = mt.tensor([3.0, 4.0], requires_grad=True)
        b = mt.tensor(0.5, requires_grad=True)
        for _ in range(2):
            ((w * w).sum() + b).backward()
            update(w)  # type: ignore[operator]

    return record(program)


def by_hand(w: mt.Tensor) -> None:
    with mt.no_grad():
        w -= 0.5 * w.grad
        w *= 2


def through_data(w: mt.Tensor) -> None:
    w.data -= 0.5 * w.grad
    w.data.mul_(2)


def through_a_view(w: mt.Tensor) -> None:
    with mt.no_grad():
        w[:] = (w - 0.5 * w.grad) * 2


def other_memory(w: mt.Tensor) -> None:
    w.data = (w.detach() - 0.5 * w.grad) * 2


@pytest.mark.parametrize("update", [by_hand, through_data, through_a_view, other_memory])
def test_one_record_for_each_leaf_and_pass(update: object) -> None:
    recording = trained(update)
    (w,) = {one.tensor for one in recording.updates}
    assert recording.tensors[w].name == "w"
    assert [one.passes for one in recording.updates] == [1, 2]
    assert [one.norm for one in recording.updates] == [5.0, 0.0]  # the first gradient is 2w: w becomes 0
    assert [one.change for one in recording.updates] == [5.0, 10.0]  # then .grad is 2w + 0
    assert [one.place is None for one in recording.updates] == [update is other_memory] * 2


def test_writes_that_are_no_updates() -> None:
    def program() -> None:
        w = mt.tensor([3.0, 4.0], requires_grad=True)
        y = w * 2
        y += 1  # not a leaf
        y.sum().backward()
        assert w.grad is not None
        w.grad.zero_()
        with mt.no_grad():
            y.mul_(0)

    assert record(program).updates == ()


def test_an_update_to_infinity_is_saved(tmp_path: object) -> None:
    recording = trained(lambda w: w.data.fill_(np.inf))
    assert [one.change for one in recording.updates] == [None, None]
    save(recording, f"{tmp_path}/run.tape")
    assert load(f"{tmp_path}/run.tape").updates == recording.updates
