"""Random events end no app; and what once ended one is played again."""

import pytest

from tests.support.recordings.recorded_once import record_program_once
from tests.tui.random_events.events import Event, random_events
from tests.tui.random_events.play import play
from tests.tui.random_events.shrink import shrink
from tests.tui.random_events.subjects import subjects

SETTLE = Event("settle")


def keys(text, *more):
    """Keys that are pressed one after the other, `...` to wait between them; then more events; then a wait."""
    return [SETTLE if key == "..." else Event("keys", text=key) for key in text.split()] + [*more, SETTLE]


def at_once(text):
    return Event("keys", text=text)


def resized(width):
    return Event("resize", (width, 24))


DRAG = Event("drag", (20, 5), to=(30, 9))


@pytest.fixture(autouse=True)
def quick_recordings(monkeypatch):
    """The program of each lesson is recorded once for all tests."""
    monkeypatch.setattr("tui.learn.lesson.record_program", record_program_once)


ONCE_FATAL = {
    "page down in a palette that is not filled yet": (
        "handmade diamond", keys("... ctrl+p z pagedown pagedown pageup escape " * 3),
    ),
    "clicks on a palette that closes": (
        "handmade diamond", keys("... ctrl+p", *(Event("click", (40, y)) for y in range(4, 20))),
    ),
    "two selections among the terms of a gradient": (
        "handmade diamond", keys("... end g x enter ... enter ...", at_once("down enter enter")),
    ),
    "a page that is closed twice": ("handmade diamond", keys("... V ...", at_once("enter enter"))),
    "a list of passes that is closed twice": ("handmade twice", keys("... s ...", at_once("enter enter"))),
    "a page that is resized while it closes": (
        "example training",
        keys("... s ...", *(one for i in range(10) for one in (resized(90 + i), *keys("escape s")[:-1]))),
    ),
    "a refusal that looks like markup": ("handmade diamond", keys('... b [ a = " enter')),
    "the help page on ten columns": ("handmade diamond", keys("... ? ...", Event("resize", (10, 4)))),
    "a palette that opens while the app ends": ("handmade diamond", keys("...", at_once("q ctrl+p q ctrl+p"))),
    "half a character that is copied": (
        "handmade diamond", keys("... g", Event("paste", text="\ud800"), *keys("home shift+end ctrl+c")),
    ),
    "half a character in the learner's file": (
        "lesson checkpointing", keys("... e ...", Event("paste", text="\ud800"), *keys("escape ... c")),
    ),
    "a watch, in the forward part of a pass that has no such node": (
        "handmade twice",
        [Event("resize", (140, 50)), *keys("... w ... m u l enter ... home home ... ] ... home home ... [ ...")],
    ),
    "a breakpoint that the next pass has no place for": ("handmade twice", keys("... b % 3 enter ... ] ... [ ... ]")),
    "text selected with the mouse, on a page that is resized": (
        "handmade diamond", keys("... ? ...", DRAG, SETTLE, Event("resize", (60, 20)), SETTLE, DRAG, resized(100)),
    ),
}  # fmt: skip


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ONCE_FATAL)
def test_what_once_ended_the_stepper(name):
    subject, events = ONCE_FATAL[name]
    assert play(subject, events) is None


@pytest.mark.sampled(25)
@pytest.mark.parametrize("subject", subjects())
def test_random_events_end_nothing(subject):
    assert play(subject, random_events(f"{subject} test", 25)) is None


def test_equal_seeds_give_equal_events_in_a_terminal_of_possible_sizes():
    events = random_events(3, 500)
    assert events == random_events(3, 500) != random_events(4, 500)
    assert all(10 <= one.at[0] <= 300 and 4 <= one.at[1] <= 100 for one in events if one.kind == "resize")


def test_shrinking_leaves_what_is_needed_in_order():
    items = list(range(200))
    assert shrink(items, lambda some: {17, 18, 150} <= set(some)) == [17, 18, 150]
    assert shrink([5], lambda some: True) == [5]


def test_shrinking_stops_when_the_trials_run_out():
    tried = []
    left = shrink(list(range(100)), lambda some: bool(tried.append(some)) or 99 in some, trials=3)
    assert len(tried) == 3
    assert 99 in left
