"""Work that takes long runs in the background: it says so, and can be stopped."""

import threading

import pytest
from textual.drivers.headless_driver import HeadlessDriver

from tests.support.recordings import handmade
from tests.support.waiting import until
from tests.tui.stepper.test_app import LARGE, bar, shown, stepper
from tui.stepper.parts import background
from tui.time import search
from tui.time.listing import FoldedTape


def threads():
    """The threads that work in the background."""
    return [thread for thread in threading.enumerate() if thread.name == background.THREAD]


@pytest.fixture
def slow(monkeypatch):
    """Every tape is long, no patience is needed, and the work ends when the test says so."""
    may_end = threading.Event()

    def waiting(method):
        def waits(*args):
            if threading.current_thread() is not threading.main_thread():
                assert may_end.wait(60)
            return method(*args)

        return waits

    monkeypatch.setattr(background, "AT_ONCE", 0)
    monkeypatch.setattr(background, "PATIENCE", 0.01)
    monkeypatch.setattr(FoldedTape, "__init__", waiting(FoldedTape.__init__))
    monkeypatch.setattr(search, "_found", waiting(search._found))
    yield may_end
    may_end.set()
    for thread in threads():
        thread.join()


@pytest.mark.parametrize("is_long", [True, False])
async def test_a_long_recording_says_that_it_opens(is_long, monkeypatch):
    written = []
    monkeypatch.setattr(HeadlessDriver, "write", lambda self, data: written.append(data))
    monkeypatch.setattr("tui.stepper.app.AT_ONCE", 10 if is_long else 1000)
    async with stepper(handmade.chain(30)).run_test(size=LARGE):
        assert any("opening chain.py ..." in data for data in written) == is_long


async def test_stepping_works_while_repetitions_are_searched_for(slow):
    async with stepper(handmade.chain(30)).run_test(size=LARGE) as pilot:
        await pilot.press("z")
        await until(pilot, lambda: "looking for repetitions ... Esc stops" in shown(pilot.app, "Heading"))
        await pilot.press("right")
        assert bar(pilot.app).startswith("step 1 of")
        slow.set()
        await until(pilot, lambda: "▸" in shown(pilot.app, "#tape"))
        assert "Esc stops" not in shown(pilot.app, "Heading")


async def test_escape_stops_it(slow):
    async with stepper(handmade.chain(30)).run_test(size=LARGE) as pilot:
        await pilot.press("z")
        await until(pilot, lambda: "Esc stops" in shown(pilot.app, "Heading"))
        await pilot.press("escape")
        assert "Esc stops" not in shown(pilot.app, "Heading")
        slow.set()
        await until(pilot, lambda: not threads())
        await pilot.pause()
        assert "▸" not in shown(pilot.app, "#tape")


async def test_a_long_search_is_given_up_with_its_prompt(slow):
    async with stepper(handmade.chain(30)).run_test(size=LARGE) as pilot:
        await pilot.press("slash", *"mul", "enter")
        await until(pilot, lambda: "searching ... Esc stops" in shown(pilot.app, "Heading"))
        await pilot.press("escape")
        slow.set()
        await until(pilot, lambda: not threads())
        await pilot.pause()
        assert bar(pilot.app).startswith("step 0 of")


async def test_a_long_search_finds(slow):
    async with stepper(handmade.chain(30)).run_test(size=LARGE) as pilot:
        await pilot.press("slash", *"mul", "enter")
        slow.set()
        await until(pilot, lambda: "mul: 1 of" in shown(pilot.app, "Heading"))
        await pilot.press("f", *"conv", "enter")
        await until(pilot, lambda: "'conv' occurs in no row of this pass" in shown(pilot.app, "#problem"))


async def test_quitting_waits_for_no_work(slow):
    async with stepper(handmade.chain(30)).run_test(size=LARGE) as pilot:
        await pilot.press("z")
        await until(pilot, lambda: "Esc stops" in shown(pilot.app, "Heading"))
        await pilot.press("q")
    assert any(threads())
    assert all(thread.daemon for thread in threads())


async def test_a_fault_in_a_thread_is_not_lost():
    async def press():
        async with stepper(handmade.chain(30)).run_test(size=LARGE) as pilot:
            pilot.app.screen.background.start(lambda: 1 / 0)
            await until(pilot, lambda: not threads())
            await pilot.pause()

    with pytest.raises(ZeroDivisionError):
        await press()
