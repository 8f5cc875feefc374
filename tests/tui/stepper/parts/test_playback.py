"""Playing by itself: its speed, and where it ends."""

from types import SimpleNamespace

import pytest

from tests.support.recordings import handmade
from tests.tui.stepper.parts.fakes import FakeStepper
from tui.stepper.parts.playback import SPEEDS, Playback


@pytest.fixture
def stepper():
    return FakeStepper(handmade.diamond())


def playing(stepper, *stops):
    playback = Playback(stepper, SimpleNamespace(moments=stops))
    playback.play()
    return playback


def test_it_steps_at_its_speed_to_the_end_of_the_pass(stepper):
    playback = playing(stepper)
    (timer,) = stepper.timers
    assert (playback.speed, timer.seconds) == (2.0, 0.5)
    while timer.is_running:
        timer.callback()
    assert stepper.cursor.position == stepper.cursor.timeline.last
    assert playback.speed == 0.0
    playback.play()
    assert len(stepper.timers) == 1, "at the end there is nothing to play"


def test_it_ends_at_a_stop(stepper):
    start = stepper.cursor.position
    playback = playing(stepper, start + 2)
    stepper.timers[0].callback()
    assert playback.speed
    stepper.timers[0].callback()
    assert not playback.speed
    assert stepper.cursor.position == start + 2


def test_the_same_key_stops_it(stepper):
    playback = playing(stepper)
    playback.play()
    assert (playback.speed, stepper.timers[0].is_running) == (0.0, False)


def test_another_speed_goes_on_playing_and_has_its_limits(stepper):
    playback = playing(stepper)
    for _ in SPEEDS:
        playback.faster(1)
    assert playback.speed == SPEEDS[-1]
    assert [timer.is_running for timer in stepper.timers].count(True) == 1
    for _ in SPEEDS:
        playback.faster(-1)
    assert playback.speed == SPEEDS[0]


def test_changing_the_speed_while_stopped_shows_a_notification(stepper):
    playback = Playback(stepper, SimpleNamespace(moments=()))
    playback.faster(1)
    assert stepper.notices == ["<play> plays 4 steps per second"]
    assert playback.speed == 0.0
