"""Schedules give torch's learning rates, alone and together, continued and loaded, and warn as torch's do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microtape
from tests.parity.observe import differences, run

MAKERS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "StepLR": st.fixed_dictionaries({"step_size": st.integers(1, 9)}, optional={"gamma": st.floats(0.1, 1.5)}),
    "MultiStepLR": st.fixed_dictionaries(
        {"milestones": st.lists(st.integers(0, 30), max_size=4)}, optional={"gamma": st.floats(0.1, 1.5)}
    ),
    "ExponentialLR": st.fixed_dictionaries({"gamma": st.floats(0.5, 1.1)}),
    "CosineAnnealingLR": st.fixed_dictionaries(
        {"T_max": st.integers(1, 15)}, optional={"eta_min": st.sampled_from([0.0, 0.001])}
    ),
    "LambdaLR": st.fixed_dictionaries({"lr_lambda": st.sampled_from([lambda t: 0.9**t, lambda t: 1 / (1 + t)])}),
}


def optimizer_of(mt: Any, rates: Any = (0.1, 1)) -> Any:
    groups = [{"params": [mt.zeros(1, requires_grad=True)], "lr": lr} for lr in rates]
    return mt.optim.SGD(groups)


def rates_over(mt: Any, chosen: list[tuple[str, dict[str, Any]]], steps: int = 35) -> list[list[Any]]:
    """The rates of both groups after each step of all schedules."""
    optimizer = optimizer_of(mt)
    schedules = [getattr(mt.optim.lr_scheduler, name)(optimizer, **options) for name, options in chosen]
    seen = [[group["lr"] for group in optimizer.param_groups]]
    for _ in range(steps):
        optimizer.step()
        for one in schedules:
            one.step()
        seen.append([group["lr"] for group in optimizer.param_groups])
        assert schedules[-1].get_last_lr() == seen[-1]
    return seen


@pytest.mark.parametrize("name", MAKERS)
def test_the_rates_are_torchs(name: str) -> None:
    import torch

    @settings(max_examples=25, derandomize=True, database=None)
    @given(MAKERS[name])
    def check(options: dict[str, Any]) -> None:
        ours, theirs = (rates_over(mt, [(name, options)]) for mt in (microtape, torch))
        for one, other in zip(ours, theirs, strict=True):
            assert one == pytest.approx(other, rel=1e-12, abs=1e-15)

    check()


def test_schedules_work_together() -> None:
    import torch

    chosen = [("ExponentialLR", {"gamma": 0.95}), ("StepLR", {"step_size": 5}), ("CosineAnnealingLR", {"T_max": 8})]
    ours, theirs = (rates_over(mt, chosen) for mt in (microtape, torch))
    for one, other in zip(ours, theirs, strict=True):
        assert one == pytest.approx(other, rel=1e-12, abs=1e-15)


def states_have_torchs_keys_and_can_be_loaded(mt, see):
    for name, options in {
        "StepLR": {"step_size": 2}, "MultiStepLR": {"milestones": [1, 3, 3]}, "ExponentialLR": {"gamma": 0.5},
        "CosineAnnealingLR": {"T_max": 3}, "LambdaLR": {"lr_lambda": lambda t: 0.5**t},
    }.items():  # fmt: skip
        optimizer, other = optimizer_of(mt), optimizer_of(mt)
        schedule, copy = (getattr(mt.optim.lr_scheduler, name)(one, **options) for one in (optimizer, other))
        see({key: value for key, value in schedule.state_dict().items() if key != "milestones"})
        for _ in range(3):
            optimizer.step()
            schedule.step()
        see(schedule.get_last_lr(), schedule.last_epoch)
        copy.load_state_dict(schedule.state_dict())
        other.load_state_dict(optimizer.state_dict())
        other.step()
        copy.step()
        see(sorted(copy.state_dict()), copy.get_last_lr(), copy.last_epoch, repr(other))


def functions_that_are_objects_are_saved(mt, see):
    class Factor:
        def __init__(self, rate):
            self.rate = rate

        def __call__(self, t):
            return self.rate**t

    first = mt.optim.lr_scheduler.LambdaLR(optimizer_of(mt), [Factor(0.5), lambda t: 2])
    other = mt.optim.lr_scheduler.LambdaLR(optimizer_of(mt), [Factor(0.1), lambda t: 3])
    see(first.state_dict()["lr_lambdas"])
    other.load_state_dict(first.state_dict())
    other.optimizer.step()
    other.step()
    see(other.get_last_lr())
    with see.raising():
        mt.optim.lr_scheduler.LambdaLR(optimizer_of(mt), [lambda t: 1])


def a_schedule_can_be_continued(mt, see):
    with see.raising():
        mt.optim.lr_scheduler.StepLR(optimizer_of(mt), 2, last_epoch=3)
    optimizer = optimizer_of(mt)
    for group in optimizer.param_groups:
        group["initial_lr"] = 0.4
    for name, options in {"StepLR": {"step_size": 2}, "CosineAnnealingLR": {"T_max": 7}}.items():
        schedule = getattr(mt.optim.lr_scheduler, name)(optimizer, **options, last_epoch=3)
        see(schedule.get_last_lr(), schedule.base_lrs, schedule.last_epoch)
        optimizer.step()
        schedule.step()
        see(schedule.get_last_lr())


def steps_in_the_wrong_order_warn(mt, see):
    optimizer = optimizer_of(mt)
    schedule = mt.optim.lr_scheduler.StepLR(optimizer, 1)
    schedule.step()
    optimizer.step()
    schedule.step()
    see(schedule.get_last_lr())


def only_steps_after_the_first_schedule_count(mt, see):
    optimizer = optimizer_of(mt)
    optimizer.step()
    mt.optim.lr_scheduler.StepLR(optimizer, 1).step()
    optimizer.step()
    mt.optim.lr_scheduler.ExponentialLR(optimizer, 1).step()


def rates_are_asked_for_in_the_wrong_way(mt, see):
    see(mt.optim.lr_scheduler.StepLR(optimizer_of(mt), 1).get_lr())


def a_schedule_needs_an_optimiser(mt, see):
    with see.raising():
        mt.optim.lr_scheduler.StepLR([mt.zeros(1)], 1)
    with see.raising():
        mt.optim.lr_scheduler.LRScheduler(optimizer_of(mt))


def a_schedule_of_the_users(mt, see):
    class Warm(mt.optim.lr_scheduler.LRScheduler):
        def __init__(self, optimizer, steps):
            self.steps = steps
            super().__init__(optimizer)

        def get_lr(self):
            return [lr * min(1, (self.last_epoch + 1) / self.steps) for lr in self.base_lrs]

    optimizer = optimizer_of(mt)
    schedule = Warm(optimizer, 4)
    for _ in range(6):
        see(schedule.get_last_lr())
        optimizer.step()
        schedule.step()


PROGRAMS: list[Callable[..., None]] = [
    states_have_torchs_keys_and_can_be_loaded, functions_that_are_objects_are_saved, a_schedule_can_be_continued,
    steps_in_the_wrong_order_warn, only_steps_after_the_first_schedule_count, rates_are_asked_for_in_the_wrong_way,
    a_schedule_needs_an_optimiser, a_schedule_of_the_users,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda one: one.__name__)
def test_a_program_observes_what_it_does_on_torch(program: Callable[..., None]) -> None:
    import torch

    found = differences(run(program, torch), run(program, microtape))
    assert not found, "\n".join(found)
