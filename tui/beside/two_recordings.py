"""Two recordings that are compared: how far they part at each moment."""

from __future__ import annotations

from collections.abc import Sequence

from microtape.recording.comparing import Comparison, compare
from microtape.recording.model.model import Recording
from tui.beside.crossing import Crossing
from tui.beside.opened import PlaceBeside
from tui.beside.side_by_side import SideBySide
from tui.shell.opening import Origin
from tui.shell.spans import Line, Span, line
from tui.time.cursor import StepCursor
from tui.words.comparison import Words


class TwoRecordings:
    """What `--beside` opens; see `OpenedBeside`."""

    def __init__(self, comparison: Comparison, names: tuple[str, str], origins: tuple[Origin, Origin]) -> None:
        self.comparison, self.names, self.origins = comparison, names, origins
        self._both = SideBySide(comparison)

    @property
    def recordings(self) -> tuple[Recording, Recording]:
        """Both."""
        return self._both.recordings

    @property
    def none_differ(self) -> str:
        """Nothing does."""
        return f"Nothing differs between {self.names[0]} and {self.names[1]}."

    def crossing(self, side: int, to: int) -> Crossing:
        """The way to the other one."""
        return self._both.crossing(side)

    def with_recording(self, side: int, recording: Recording) -> TwoRecordings:
        """Compare again."""
        a, b = self.recordings
        found = self.comparison
        pair = (a, recording) if side else (recording, b)
        return TwoRecordings(compare(*pair, found.tolerance.rtol, found.tolerance.atol), self.names, self.origins)

    def findings(self, recording: Recording) -> None:
        """Each has its own."""

    def first(self, cursor: StepCursor, side: int) -> PlaceBeside | None:
        """The first difference."""
        found = self.comparison.first
        return PlaceBeside(side, self._both.to(found, cursor, side)) if found is not None else None

    def places(self, cursor: StepCursor, side: int) -> Sequence[PlaceBeside]:
        """Where differences begin that do not follow from earlier ones."""
        found = [PlaceBeside(side, self._both.to(one, cursor, side)) for one in self.comparison.origins]
        return sorted(found, key=lambda one: (one.cursor.timeline.pass_index, one.cursor.position))

    def count(self) -> str:
        """`7 differences`."""
        found = self.comparison.differences
        return f"{len(found):,} difference{'' if len(found) == 1 else 's'}" if found else ""

    def here(self, cursor: StepCursor, side: int, *, ascii: bool) -> Line:
        """The first difference at this moment that does not follow from another one."""
        other = self.names[1 - side]
        words = Words(self.comparison, self.names, ascii=ascii)
        differ = self._both.differences(cursor, side)
        if differ:
            one = next((one for one in differ if not one.follows), differ[0])
            more = f"; {len(differ) - 1} more" if len(differ) > 1 else ""
            begins = "follows: " if one.follows else ""
            return line(Span(begins, "dim"), Span(words.what(one, update=False), "bad"), Span(more, "dim"))
        if not self.crossing(side, 1 - side).has_counterpart(cursor):
            what = "this pass" if cursor.node is None else "this node"
            return line(Span(f"{what} has no counterpart in {other}", "warn"))
        if cursor.node is None:
            return line(Span("nothing differs here", "dim"))
        return line(Span(f"agrees with {other} here", "good"))
