"""Playback: the stepper steps forward by itself, at a chosen speed."""

from __future__ import annotations

from typing import Protocol

from textual.timer import Timer

from tui.stepper.parts.key_declarations import key
from tui.stepper.parts.part import Part, Stepper

SPEEDS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)  # steps per second


class Moments(Protocol):
    """The moments at which playback stops."""

    moments: tuple[int, ...]


class Playback(Part[Stepper]):
    """Plays to the next stop, or to the end of the pass."""

    def __init__(self, stepper: Stepper, stops: Moments) -> None:
        super().__init__(stepper)
        self.speed = 0.0  # steps per second; 0: not playing
        self._chosen = SPEEDS.index(2.0)
        self._stops = stops
        self._timer: Timer | None = None

    @key(
        "space", "play", footer=5,
        help="play to the next stop; {faster(1)} and {faster(-1)} change the speed",
    )  # fmt: skip
    def play(self) -> None:
        """Start or stop playing."""
        if self.speed:
            self.stop()
        elif self.cursor.position < self.cursor.timeline.last:
            self._start()

    @key("plus,equals_sign", "play faster", 1)
    @key("minus", "play slower", -1)
    def faster(self, by: int) -> None:
        """Change the speed of playback."""
        self._chosen = min(max(self._chosen + by, 0), len(SPEEDS) - 1)
        if self.speed:
            self.stop()
            self._start()
        else:
            self.say(f"{self.stepper.key('play')} plays {SPEEDS[self._chosen]:g} steps per second", 2)

    def stop(self) -> None:
        """Stop playing."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
            self._show(0.0)

    def _start(self) -> None:
        self._timer = self.stepper.set_interval(1 / SPEEDS[self._chosen], self._tick)
        self._show(SPEEDS[self._chosen])

    def _show(self, speed: float) -> None:
        self.speed = speed
        self.stepper.changed()

    def _tick(self) -> None:
        self.cursor = self.cursor.forward()
        if self.cursor.position == self.cursor.timeline.last or self.cursor.position in self._stops.moments:
            self.stop()
