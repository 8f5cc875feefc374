"""The page with the course of every parameter."""

import dataclasses

import pytest

import microtape as mt
from tests.tui.stepper.test_app import LARGE, SMALL, shown, stepper


def recorded(every=2):
    w = mt.tensor([1.0, 2.0], requires_grad=True)
    b = mt.tensor(0.5, requires_grad=True)
    with mt.record(every=every) as loop:
        for _ in range(6):
            w.grad = b.grad = None
            loss = (w * w).sum() + b * 0.0
            loss.backward()
            with mt.no_grad():
                w -= 0.1 * w.grad
    return loop.recording


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_the_page_lists_every_parameter_the_worst_first(size):
    async with stepper(recorded(), size=size) as pilot:
        await pilot.press("S")
        await pilot.pause()
        screen = shown(pilot)
        assert "courses, the worst first" in screen
        assert "3 passes, 2 to 6" in screen
        assert screen.index(" b  ") < screen.index(" w  ")
        await pilot.press("escape")
        await pilot.pause()
        assert "courses" not in shown(pilot)


async def test_enter_goes_to_the_leaf():
    async with stepper(recorded(), size=LARGE) as pilot:
        await pilot.press("S", "down", "enter")
        await pilot.pause()
        cursor = pilot.app.screen.cursor
        assert cursor.recording.label(cursor.focus) == "w"


async def test_without_a_course_it_says_how_to_get_one():
    async with stepper(dataclasses.replace(recorded(), courses=()), size=LARGE) as pilot:
        await pilot.press("S")
        await pilot.pause()
        assert "record the program with --every 100" in shown(pilot)
