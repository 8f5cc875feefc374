"""Two recordings in the stepper: it opens where they part, a key shows the same step of the other one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import microtape as mt
from microtape.recording.comparing import compare
from microtape.recording.model.model import Recording
from tests.support.recordings import handmade
from tests.tui.stepper.test_app import LARGE, SMALL, bar, shown, stepper
from tests.tui.stepper.test_copy_export import notices
from tui.beside.two_recordings import TwoRecordings
from tui.shell.opening import Origin

SIZES = [SMALL, (100, 30), (120, 40), LARGE]


def training(rate: float = 0.1, factor: float | None = None) -> Recording:
    def run() -> None:
        w = mt.tensor([1.0, 2.0], requires_grad=True)
        for _ in range(2):
            h = w * w if factor is None else w * w * factor
            loss = h.sum()
            loss.backward()
            with mt.no_grad():
                w -= rate * w.grad
            w.grad = None

    return mt.record(run)


def opened(a: Recording, b: Recording, **options: Any) -> Any:
    both = TwoRecordings(compare(a, b), ("a.tape", "b.tape"), (Origin("a.tape"), Origin("b.tape")))
    return stepper(a, beside=both, origin=both.origins[0], **options)


def lines(app: Any) -> list[str]:
    return [line.strip() for line in shown(app, "BesideLine").splitlines()]


def place(app: Any) -> tuple[int, int]:
    cursor = app.screen.cursor
    return cursor.timeline.pass_index, cursor.position


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_it_opens_where_the_recordings_part_and_says_by_how_much(size: tuple[int, int]) -> None:
    async with opened(training(0.1), training(0.2)).run_test(size=size) as pilot:
        assert bar(pilot.app) == "operation 1 of 2"
        assert "pass 2 of 2" in shown(pilot.app, "Heading")
        which, here = lines(pilot.app)
        assert which.startswith("showing a.tape   t shows b.tape")
        assert which.endswith("7 differences   d next")
        assert here.startswith("its operand w is 1.6 in a.tape, 1.2 in b.tape at [1], relative 0.25")


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_the_lines_take_no_room_from_the_rest(size: tuple[int, int]) -> None:
    async with opened(training(0.1), training(0.2)).run_test(size=size) as pilot:
        screen = pilot.app.screen
        line = screen.query_one("BesideLine").region
        assert line.height == 2
        assert line.bottom <= screen.query_one("#sentence").region.y
        assert screen.query_one("#tape").region.height >= 3
        assert not line.overlaps(screen.query_one("#tape").region)
        assert not line.overlaps(screen.query_one("#panes").region)


async def test_one_key_shows_the_same_step_of_the_other_recording_and_back() -> None:
    b = training(0.2)
    async with opened(training(0.1), b).run_test(size=SMALL) as pilot:
        await pilot.press("right", "right")
        before = place(pilot.app)
        await pilot.press("t")
        assert pilot.app.screen.cursor.recording is b
        assert place(pilot.app) == before
        assert lines(pilot.app)[0].startswith("showing b.tape   t shows a.tape")
        await pilot.press("t")
        assert pilot.app.screen.cursor.recording is not b
        assert place(pilot.app) == before
        await pilot.press("right", "t", "left", "t")
        assert place(pilot.app) == before


async def test_what_follows_is_told_from_what_begins_here() -> None:
    async with opened(training(0.1), training(0.2)).run_test(size=LARGE) as pilot:
        await pilot.press("right")
        assert lines(pilot.app)[1].startswith("follows: its result loss is")
        await pilot.press("left_square_bracket", "home", "right")
        assert lines(pilot.app)[1] == "agrees with b.tape here"
        await pilot.press("d")
        assert lines(pilot.app)[1].startswith("its operand w")


async def test_next_goes_round() -> None:
    def run(first: float, second: float) -> Recording:
        def program() -> None:
            for value in (first, second):
                x = mt.tensor([value, 2.0], requires_grad=True)
                x.exp().sum().backward()

        return mt.record(program)

    async with opened(run(1.0, 1.0), run(3.0, 3.0)).run_test(size=LARGE) as pilot:
        seen = [place(pilot.app)]
        for _ in range(3):
            await pilot.press("d")
            seen.append(place(pilot.app))
        assert seen == [(0, 1), (1, 1), (0, 1), (1, 1)]


async def test_a_step_without_a_counterpart_leads_to_the_one_before_and_back() -> None:
    a, b = training(0.1, factor=1.0), training(0.1)
    async with opened(a, b).run_test(size=LARGE) as pilot:
        await pilot.press("home", "right", "right")  # w * w, then its product with 1.0
        here = place(pilot.app)
        assert lines(pilot.app)[1] == "this node has no counterpart in b.tape"
        await pilot.press("t")
        assert "b.tape has no counterpart of this step: this is the nearest before it." in notices(pilot.app)
        assert bar(pilot.app) == "operation 1 of 2"
        await pilot.press("t")
        assert place(pilot.app) == here


async def test_equal_recordings_say_so() -> None:
    async with opened(training(), training()).run_test(size=LARGE) as pilot:
        which, here = lines(pilot.app)
        assert which == "showing a.tape   t shows b.tape"
        assert here == "nothing differs here"
        await pilot.press("d")
        assert "Nothing differs between a.tape and b.tape." in notices(pilot.app)


async def test_one_recording_has_no_such_lines() -> None:
    async with stepper(handmade.diamond()).run_test(size=SMALL) as pilot:
        assert not pilot.app.screen.query_one("BesideLine").display
        await pilot.press("t", "d")
        assert "`microtape step A --beside B` opens two" in notices(pilot.app)


async def test_ascii() -> None:
    async with opened(training(0.1), training(0.2), ascii=True).run_test(size=(60, 24)) as pilot:
        assert all(line.isascii() for line in lines(pilot.app))
        assert lines(pilot.app)[1].endswith("...")


async def test_a_program_that_was_changed_is_compared_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    a, b = training(0.1), training(0.2)
    async with opened(a, b).run_test(size=LARGE) as pilot:
        screen = pilot.app.screen
        screen.cursor = type(screen.cursor).open(training(0.2), 1)  # as after editing
        await pilot.pause()
        assert lines(pilot.app)[0] == "showing a.tape   t shows b.tape"
        assert lines(pilot.app)[1] == "nothing differs here"


async def test_the_editor_opens_the_file_of_the_recording_that_is_shown() -> None:
    async with opened(training(0.1), training(0.2)).run_test(size=LARGE) as pilot:
        screen = pilot.app.screen
        assert screen.rerecorder.origin.file == screen.derivative_check.origin.file == "a.tape"
        await pilot.press("t")
        assert screen.rerecorder.origin.file == screen.derivative_check.origin.file == "b.tape"
