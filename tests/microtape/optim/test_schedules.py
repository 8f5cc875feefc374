"""Schedules: the rates by their closed formulas, and the order of steps."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import microtape as mt
from microtape.optim import lr_scheduler


def optimizer_of(*rates: float) -> mt.optim.Optimizer:
    return mt.optim.SGD([{"params": [mt.zeros(1, requires_grad=True)], "lr": lr} for lr in rates])


def rates(make: Callable[[mt.optim.Optimizer], lr_scheduler.LRScheduler], steps: int) -> list[float]:
    """The rates of the second group, which began with 0.5."""
    optimizer = optimizer_of(0.1, 0.5)
    schedule = make(optimizer)
    seen = [optimizer.param_groups[1]["lr"]]
    for _ in range(steps):
        optimizer.step()
        schedule.step()
        assert schedule.get_last_lr() == [group["lr"] for group in optimizer.param_groups]
        seen.append(schedule.get_last_lr()[1])
    return seen


@given(st.floats(0.1, 1.2), st.integers(1, 7))
def test_the_rates_are_those_of_the_closed_formulas(gamma: float, period: int):
    found = rates(lambda one: lr_scheduler.ExponentialLR(one, gamma), 20)
    assert found == pytest.approx([0.5 * gamma**t for t in range(21)])
    found = rates(lambda one: lr_scheduler.StepLR(one, period, gamma), 20)
    assert found == pytest.approx([0.5 * gamma ** (t // period) for t in range(21)])
    found = rates(lambda one: lr_scheduler.MultiStepLR(one, [period, period, 9], gamma), 20)
    assert found == pytest.approx([0.5 * gamma ** (2 * (t >= period) + (t >= 9)) for t in range(21)])
    found = rates(lambda one: lr_scheduler.LambdaLR(one, lambda t: gamma * t), 20)
    assert found == pytest.approx([0.5 * gamma * t for t in range(21)])
    found = rates(lambda one: lr_scheduler.CosineAnnealingLR(one, period, eta_min=0.01), 20)
    assert found == pytest.approx([0.01 + 0.49 * (1 + math.cos(math.pi * t / period)) / 2 for t in range(21)])


def test_a_schedule_changes_the_current_rate():
    optimizer = optimizer_of(0.1)
    schedule = lr_scheduler.ExponentialLR(optimizer, 0.5)
    optimizer.param_groups[0]["lr"] = 8.0
    optimizer.step()
    schedule.step()
    assert schedule.get_last_lr() == [4.0]


def test_a_schedule_that_steps_before_its_optimiser_warns():
    schedule = lr_scheduler.StepLR(optimizer_of(0.1), 1)
    with pytest.warns(UserWarning, match=r"`lr_scheduler.step\(\)` before `optimizer.step\(\)`") as warned:
        schedule.step()
    assert warned[0].filename == __file__


def test_a_loaded_schedule_goes_on_as_the_saved_one():
    optimizer, other = optimizer_of(0.1), optimizer_of(0.1)
    schedule, copy = (lr_scheduler.CosineAnnealingLR(one, 5) for one in (optimizer, other))
    for _ in range(3):
        optimizer.step()
        schedule.step()
    copy.load_state_dict(schedule.state_dict())
    other.load_state_dict(optimizer.state_dict())
    for one, its in ((optimizer, schedule), (other, copy)):
        one.step()
        its.step()
    assert copy.get_last_lr() == schedule.get_last_lr()
