"""Other recordings beside this one: a key shows the same step of another one, `d` goes where they part."""

from __future__ import annotations

from tui.beside.opened import OpenedBeside
from tui.shell.spans import Line, Span, line
from tui.stepper.parts.derivative_check import DerivativeCheck
from tui.stepper.parts.key_declarations import key
from tui.stepper.parts.part import Part, Stepper
from tui.stepper.parts.rerecorder import Rerecorder
from tui.time.cursor import StepCursor
from tui.widgets import beside_line
from tui.words.passes import Counterpart, PassOf, passes_of

NONE_OPEN = (
    "Only one recording is open: `microtape step A --beside B` opens two, `microtape step run.rank*.tape` all ranks."
)


class Beside(Part[Stepper]):
    """Switches between recordings, and says how far they part at each moment."""

    def __init__(
        self,
        stepper: Stepper,
        opened: OpenedBeside | None,
        rerecorder: Rerecorder,
        derivative_check: DerivativeCheck,
    ) -> None:
        super().__init__(stepper)
        self._opened = opened
        self._runs = rerecorder, derivative_check  # which run the program of the recording that is shown
        self._side = 0  # which of them is shown
        self._last: dict[int, StepCursor] = {}  # the last moment of each side
        self._from: tuple[int, StepCursor] | None = None  # the side and the moment where switching began
        self._is_switching = False

    def mounted(self) -> None:
        """Open where the recordings part first."""
        if self._opened is None:
            return
        first = self._opened.first(self.cursor, self._side)
        if first is not None:
            self._show(*first)

    def follow(self, old: StepCursor | None, new: StepCursor) -> None:
        """Say how far the recordings part here. Compare again if one of them was recorded again."""
        if self._opened is None:
            return
        side = self._side_of(self._opened, new)
        if side is None:
            self._opened = self._opened.with_recording(self._side, new.recording)
        else:
            self._side = side
        self._last[self._side] = new
        if not self._is_switching:
            self._from = self._side, new
        self._say()

    def _side_of(self, opened: OpenedBeside, cursor: StepCursor) -> int | None:
        """Which of the recordings this is, perhaps with checks that were made later; None if it is none of them."""
        same = [side for side, one in enumerate(opened.recordings) if one.nodes is cursor.recording.nodes]
        return self._side if self._side in same else next(iter(same), None)

    def _show(self, side: int, moment: StepCursor) -> None:
        """Show a moment of one of the recordings."""
        assert self._opened is not None
        self._side = side
        for part in self._runs:
            part.origin = self._opened.origins[side]
        self.cursor = moment

    # Passes of all of them

    def current(self) -> PassOf:
        """The pass that is shown."""
        name = self._opened.names[self._side] if self._opened is not None else ""
        return PassOf(self.cursor.recording, self.cursor.timeline.pass_index, name, self._side)

    def passes(self) -> list[PassOf]:
        """The passes of all open recordings, the same one of each side by side."""
        if self._opened is None:
            return passes_of(self.cursor.recording)
        found: list[PassOf] = []
        for side, name in enumerate(self._opened.names):
            recording = self._opened.recordings[side] if side != self._side else self.cursor.recording
            found += passes_of(recording, name, side)
        return sorted(found, key=lambda one: (one.record.index, one.side))

    def counterpart(self, side: int, to: int) -> Counterpart | None:
        """What finds the node of another recording that matches a node; None within one recording."""
        return self._opened.crossing(side, to).node if self._opened is not None and side != to else None

    def go_to(self, one: PassOf, node: int | None = None) -> None:
        """Go to a pass of any of the recordings, or to a node in it."""
        known = self.cursor if one.side == self._side else self._last.get(one.side)
        there = (known or StepCursor.open(one.recording)).to_pass(one.position)
        moment = there if node is None else there.goto_node(node)
        if self._opened is not None:
            self._show(one.side, moment)
        else:
            self.cursor = moment

    # Keys

    @key(
        "t", "to the same step of the other recording, or of the next rank",
        help="with --beside or several files: show the same step of the other recording, or of the next rank",
    )  # fmt: skip
    def switch(self) -> None:
        """Show the same moment of the next recording, wrapping at the last."""
        self._switch(1)

    @key("T", "to the same step of the rank before", help="the same step of the rank before")
    def switch_back(self) -> None:
        """Show the same moment of the previous recording, wrapping at the first."""
        self._switch(-1)

    def _switch(self, by: int) -> None:
        opened = self._opened
        if opened is None or self._from is None:
            self.say(NONE_OPEN, 4)
            return
        self.stepper.stop_playing()
        side, here = self._from
        to = (self._side + by) % len(opened.recordings)
        there, is_same = here, True
        if to != side:
            other = self._last.get(to) or StepCursor.open(opened.recordings[to])
            there, is_same = opened.crossing(side, to).counterpart(here, other)
        if not is_same:
            has = "does not come to" if opened.crossing(side, to).has_counterpart(here) else "has no counterpart of"
            self.say(f"{opened.names[to]} {has} this step: this is the nearest before it.", 4)
        self._is_switching = True
        self._show(to, there)
        self._is_switching = False

    @key(
        "d", "to the next place where the recordings part",
        help="with --beside or several files: to where the recordings part",
    )  # fmt: skip
    def next_difference(self) -> None:
        """Go to the next place where a difference begins, wrapping at the last."""
        opened = self._opened
        if opened is None:
            self.say(NONE_OPEN, 4)
            return
        self.stepper.stop_playing()
        places = opened.places(self.cursor, self._side)
        if not places:
            self.say(opened.none_differ, 4)
            return
        here = _order(self.cursor, self._side)
        self._show(*next((one for one in places if _order(one.cursor, one.side) > here), places[0]))

    # The lines below the tape

    def _say(self) -> None:
        widget = self.stepper.query_one(beside_line.BesideLine)
        if self._opened is not None:
            here = self._opened.here(self.cursor, self._side, ascii=self.stepper.ascii)
            widget.shown = beside_line.Beside(self._which(self._opened), self._count(self._opened), here)

    def _which(self, opened: OpenedBeside) -> Line:
        name, other = (opened.names[(self._side + by) % len(opened.names)] for by in (0, 1))
        switches = Span(f"   {self.stepper.key('switch')} shows {other}", "dim")
        of = Span(f" of {len(opened.names)}" if len(opened.names) > 2 else "", "dim")
        return line(Span("showing ", "dim"), Span(name, "strong"), of, switches)

    def _count(self, opened: OpenedBeside) -> Line:
        found = opened.count()
        return line(Span(found, "warn"), Span(f"   {self.stepper.key('next_difference')} next", "dim")) if found else ()


def _order(cursor: StepCursor, side: int) -> tuple[int, int, int]:
    """The order in which `d` goes through places."""
    return cursor.timeline.pass_.index if cursor.timeline.pass_ is not None else 0, cursor.position, side
