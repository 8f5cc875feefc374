"""The page with the course of every parameter."""

import dataclasses

import pytest

import microtape as mt
from tests.tui.stepper.test_app import LARGE, SMALL, shown, stepper
from tui.stepper.courses_screen import CoursesScreen


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
    async with stepper(recorded()).run_test(size=size) as pilot:
        await pilot.press("S")
        await pilot.pause()
        heading, loss, titles = shown(pilot.app, "Static").splitlines()
        assert heading.startswith("3 passes, 2 to 6")
        assert loss.startswith("loss")
        assert titles.split() == ["name", "|w|", "|g|", "update/weight"]
        assert [one.split()[0] for one in shown(pilot.app, "OptionList").splitlines()] == ["b", "w"]
        await pilot.press("escape")
        await pilot.pause()
        assert not isinstance(pilot.app.screen, CoursesScreen)


async def test_enter_goes_to_the_leaf():
    async with stepper(recorded()).run_test(size=LARGE) as pilot:
        await pilot.press("S", "down", "enter")
        await pilot.pause()
        cursor = pilot.app.screen.cursor
        assert cursor.recording.label(cursor.focus) == "w"


async def test_without_a_course_it_says_how_to_get_one():
    async with stepper(dataclasses.replace(recorded(), courses=())).run_test(size=LARGE) as pilot:
        await pilot.press("S")
        await pilot.pause()
        assert not isinstance(pilot.app.screen, CoursesScreen)
        assert [one.message for one in pilot.app._notifications] == [
            "There is no course here: record the program with --every 100."
        ]
