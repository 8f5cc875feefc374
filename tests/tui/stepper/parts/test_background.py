"""Work in the background, without a screen: when `then` is called, and when it is not."""

import threading

import pytest

from tests.support.recordings import handmade
from tests.tui.stepper.parts.fakes import FakeStepper
from tui.stepper.parts import background as background_module
from tui.stepper.parts.background import Background


@pytest.fixture
def made():
    stepper = FakeStepper(handmade.twice())
    waiting = []  # what the screen would call later, in its own thread
    stepper.call_later = lambda callback, *arguments: waiting.append((callback, arguments))

    async def arrive():
        for thread in [one for one in threading.enumerate() if one.name == background_module.THREAD]:
            thread.join()
        for callback, arguments in waiting:
            doing = callback(*arguments)
            if doing is not None:
                await doing

    return stepper, Background(stepper), arrive


@pytest.fixture
def long_tape(monkeypatch):
    monkeypatch.setattr(background_module, "AT_ONCE", 0)


def test_in_a_short_tape_it_is_ready_at_once(made):
    done = []
    assert made[1].prepared("looking", lambda: done.append("prepared"), lambda: done.append("then"))
    assert done == ["prepared"]


async def test_in_a_long_one_then_is_called_when_it_is(made, long_tape):
    done = []
    assert not made[1].prepared("looking", lambda: done.append("prepared"), lambda: done.append("then"))
    await made[2]()
    assert done == ["prepared", "then"]


async def test_it_says_after_a_while_what_it_does(made, long_tape):
    stepper, background, arrive = made
    background.prepared("looking", lambda: None, lambda: None)
    assert background.doing == ""
    stepper.timers[0].callback()
    assert background.doing == "looking ... <escape> stops"
    await arrive()
    assert background.doing == ""


async def test_what_was_stopped_is_not_wanted_any_more(made, long_tape):
    done = []
    made[1].prepared("looking", lambda: None, lambda: done.append("then"))
    assert made[1].stop()
    assert not made[1].stop()
    await made[2]()
    made[0].timers[0].callback()
    assert (done, made[1].doing) == ([], "")


async def test_another_pass_does_not_want_it(made, long_tape):
    done = []
    made[1].prepared("looking", lambda: None, lambda: done.append("then"))
    made[0].cursor = made[0].cursor.to_pass(1)
    await made[2]()
    assert done == []


async def test_a_fault_is_raised_where_the_screen_runs(made):
    made[1].start(lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        await made[2]()
