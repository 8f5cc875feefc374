"""Another recording beside this one: `t` shows the same step of it, `d` goes where the recordings part."""

from __future__ import annotations

from typing import NamedTuple

from microtape.recording.comparing import Comparison, compare
from microtape.recording.model.model import Recording
from tui.shell.opening import Origin
from tui.shell.spans import Line, Span, line
from tui.stepper.parts.derivative_check import DerivativeCheck
from tui.stepper.parts.key_declarations import key
from tui.stepper.parts.part import Part, Stepper
from tui.stepper.parts.rerecorder import Rerecorder
from tui.time.cursor import StepCursor
from tui.time.side_by_side import SideBySide
from tui.widgets import beside_line
from tui.words.comparison import Words

NONE_OPEN = "Only one recording is open: `microtape step A --beside B` opens two."


class TwoRecordings(NamedTuple):
    """What the stepper is opened with: two recordings, compared."""

    comparison: Comparison
    names: tuple[str, str]
    origins: tuple[Origin, Origin]


class Beside(Part[Stepper]):
    """Switches between two recordings, and says how far they part at each moment."""

    def __init__(
        self,
        stepper: Stepper,
        opened: TwoRecordings | None,
        rerecorder: Rerecorder,
        derivative_check: DerivativeCheck,
    ) -> None:
        super().__init__(stepper)
        self._opened = opened
        self._runs = rerecorder, derivative_check  # which run the program of the recording that is shown
        self._both = SideBySide(opened.comparison) if opened is not None else None
        self._side = 0  # which of them is shown
        self._last: dict[int, StepCursor] = {}  # the last moment of each side
        self._led: tuple[StepCursor, StepCursor] | None = None  # the moment that a switch led to, and the one before it

    def mounted(self) -> None:
        """Open where the recordings part first."""
        first = self._both.comparison.first if self._both is not None else None
        if first is not None and self._both is not None:
            self.cursor = self._both.to(first, self.cursor, self._side)

    def follow(self, old: StepCursor | None, new: StepCursor) -> None:
        """Say how far the recordings part here. Compare again if one of them was recorded again."""
        both = self._both
        if both is None:
            return
        if both.side_of(new.recording) is None:
            self._compare_again(new.recording)
        self._last[self._side] = new
        self._say()

    def _compare_again(self, new: Recording) -> None:
        """The recording that is shown has been replaced."""
        assert self._both is not None
        a, b = self._both.recordings
        found = self._both.comparison
        pair = (a, new) if self._side else (new, b)
        self._both = SideBySide(compare(*pair, found.tolerance.rtol, found.tolerance.atol))
        self._led = None

    @key(
        "t", "to the same step of the other recording",
        help="with --beside: show the same step of the other recording, and back",
    )  # fmt: skip
    def switch(self) -> None:
        """Show the same moment of the other recording."""
        if self._both is None or self._opened is None:
            self.say(NONE_OPEN, 4)
            return
        self.stepper.stop_playing()
        here, is_same = self.cursor, True
        if self._led is not None and here == self._led[0]:
            there = self._led[1]
        else:
            other = self._last.get(1 - self._side) or StepCursor.open(self._both.recordings[1 - self._side])
            there, is_same = self._both.counterpart(here, self._side, other)
        if not is_same:
            self.say(self._why_not(here), 4)
        self._side = 1 - self._side
        for part in self._runs:
            part.origin = self._opened.origins[self._side]
        self.cursor = there
        self._led = there, here

    def _why_not(self, here: StepCursor) -> str:
        assert self._both is not None
        name = self._names[1 - self._side]
        has = "does not come to" if self._both.has_counterpart(here, self._side) else "has no counterpart of"
        return f"{name} {has} this step: this is the nearest before it."

    @key("d", "to the next place where the recordings part", help="with --beside: to where the recordings part")
    def next_difference(self) -> None:
        """Go to the next difference that does not follow from an earlier one, wrapping at the last."""
        if self._both is None:
            self.say(NONE_OPEN, 4)
            return
        self.stepper.stop_playing()
        moments = self._moments()
        if not moments:
            self.say(f"Nothing differs between {self._names[0]} and {self._names[1]}.", 4)
            return
        here = _order(self.cursor)
        self.cursor = next((one for one in moments if _order(one) > here), moments[0])

    def _moments(self) -> list[StepCursor]:
        """Where differences begin, in order of time, each once."""
        assert self._both is not None
        found = (self._both.to(one, self.cursor, self._side) for one in self._both.comparison.origins)
        return list({_order(one): one for one in sorted(found, key=_order)}.values())

    # The lines below the tape

    @property
    def _names(self) -> tuple[str, str]:
        return self._opened.names if self._opened is not None else ("", "")

    def _say(self) -> None:
        widget = self.stepper.query_one(beside_line.BesideLine)
        if self._both is not None:
            widget.shown = beside_line.Beside(self._which(), self._count(), self._here())

    def _which(self) -> Line:
        name, other = self._names[self._side], self._names[1 - self._side]
        switches = Span(f"   {self.stepper.key('switch')} shows {other}", "dim")
        return line(Span("showing ", "dim"), Span(name, "strong"), switches)

    def _count(self) -> Line:
        assert self._both is not None
        found = self._both.comparison.differences
        if not found:
            return ()
        goes = Span(f"   {self.stepper.key('next_difference')} next", "dim")
        return line(Span(f"{len(found):,} difference{'' if len(found) == 1 else 's'}", "warn"), goes)

    def _here(self) -> Line:
        """What differs at this moment, in words."""
        assert self._both is not None
        cursor, other = self.cursor, self._names[1 - self._side]
        words = Words(self._both.comparison, self._names, ascii=self.stepper.ascii)
        differ = self._both.differences(cursor, self._side)
        if differ:
            one = next((one for one in differ if not one.follows), differ[0])
            more = f"; {len(differ) - 1} more" if len(differ) > 1 else ""
            begins = "follows: " if one.follows else ""
            return line(Span(begins, "dim"), Span(words.what(one, update=False), "bad"), Span(more, "dim"))
        if not self._both.has_counterpart(cursor, self._side):
            what = "this pass" if cursor.node is None else "this node"
            return line(Span(f"{what} has no counterpart in {other}", "warn"))
        if cursor.node is None:
            return line(Span("nothing differs here", "dim"))
        return line(Span(f"agrees with {other} here", "good"))


def _order(cursor: StepCursor) -> tuple[int, int]:
    return cursor.timeline.pass_index, cursor.position
