"""Updates of leaves, as a recording keeps them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import microtape as mt
from microtape.recording import Recording, record
from microtape.recording.file.tape_file import load, save
from microtape.recording.model.source import expression


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


def optimised(make: Callable[[list[mt.Tensor]], mt.optim.Optimizer], *, in_hook: bool = False) -> Recording:
    """Two passes of w², with a step of an optimiser of w and of an unused leaf after each."""

    def program() -> None:
        w = mt.tensor([3.0, 4.0], requires_grad=True)
        unused = mt.tensor(0.5, requires_grad=True)
        optimizer = make([w, unused])
        if in_hook:
            w.register_post_accumulate_grad_hook(lambda leaf: optimizer.step())
        for _ in range(2):
            optimizer.zero_grad()
            (w * w + 0 * unused.detach()).sum().backward()
            if not in_hook:
                optimizer.step()

    return record(program)


OPTIMIZERS = {
    "SGD": lambda params: mt.optim.SGD(params, lr=0.1, momentum=0.9, weight_decay=0.1, nesterov=True),
    "Adam": lambda params: mt.optim.Adam(params, lr=0.1, weight_decay=0.1, amsgrad=True),
    "AdamW": lambda params: mt.optim.AdamW(params, lr=0.1),
    "RMSprop": lambda params: mt.optim.RMSprop(params, lr=0.1, momentum=0.9, centered=True),
    "Adagrad": lambda params: mt.optim.Adagrad(params, lr=0.1, weight_decay=0.1),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_step_of_an_optimiser_is_one_write_at_the_users_line(name: str) -> None:
    recording = optimised(OPTIMIZERS[name])
    updates = [one for one in recording.updates if recording.tensors[one.tensor].name == "w"]
    assert [one.passes for one in updates] == [1, 2]
    assert all(one.change for one in updates)
    assert [expression(recording, one.place) for one in updates] == ["optimizer.step()"] * 2
    writes = [one for one in recording.borders if one.in_place]
    assert [(one.op, one.place) for one in writes] == [(f"{name}.step", one.place) for one in updates]
    assert [one.outputs[0].version for one in writes] == [1, 2]
    assert not [one for one in recording.borders if one.op not in ("detach", "mul", "zeros_like", f"{name}.step")]


def test_a_parameter_that_a_step_leaves_as_it_is_has_an_update_of_size_0() -> None:
    recording = optimised(OPTIMIZERS["SGD"])
    updates = [one for one in recording.updates if recording.tensors[one.tensor].name == "unused"]
    assert [(one.passes, one.norm, one.change) for one in updates] == [(1, 0.5, 0.0), (2, 0.5, 0.0)]
    assert [expression(recording, one.place) for one in updates] == ["optimizer.step()"] * 2


def test_a_step_in_a_hook_is_an_update_at_the_hooks_line() -> None:
    recording = optimised(lambda params: mt.optim.SGD(params, lr=0.25), in_hook=True)
    updates = [one for one in recording.updates if recording.tensors[one.tensor].name == "w"]
    assert [(one.passes, one.norm, one.change) for one in updates] == [(1, 5.0, 2.5), (2, 2.5, 1.25)]
    assert [expression(recording, one.place) for one in updates] == ["optimizer.step()"] * 2


def test_an_optimiser_of_the_users_is_shown_at_its_own_line() -> None:
    class Half(mt.optim.Optimizer):
        @mt.no_grad()
        def step(self) -> None:
            for p in self.param_groups[0]["params"]:
                p.mul_(0.5)

    recording = optimised(lambda params: Half(params, {}))
    updates = [one for one in recording.updates if recording.tensors[one.tensor].name == "w"]
    assert [(one.passes, one.norm, one.change) for one in updates] == [(1, 5.0, 2.5), (2, 2.5, 1.25)]
    assert [expression(recording, one.place) for one in updates] == ["p.mul_(0.5)"] * 2


def test_recording_changes_no_step() -> None:
    def trained() -> list[float]:
        w = mt.tensor([3.0, 4.0], requires_grad=True)
        for make in OPTIMIZERS.values():
            optimizer = make([w])
            (w * w).sum().backward()
            optimizer.step()
        return [*w.tolist(), w._version]

    found: list[list[float]] = []
    record(lambda: found.append(trained()))
    assert found == [trained()]


def to_and_fro(w: mt.Tensor) -> None:
    before = w.detach().clone()
    by_hand(w)
    w.data.copy_(before)


def tried(w: mt.Tensor) -> None:
    before = w.detach().clone()
    by_hand(w)
    (w * w).sum().item()
    w.data.copy_(before)


def by_zero(w: mt.Tensor) -> None:
    with mt.no_grad():
        w -= 0 * w.grad
        w *= 1


@pytest.mark.parametrize(("update", "change"), [(to_and_fro, None), (tried, None), (by_zero, 0.0)])
def test_a_change_that_is_undone_is_not_one_of_nothing(update: object, change: float | None) -> None:
    assert [one.change for one in trained(update).updates] == [change] * 2
