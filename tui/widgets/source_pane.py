"""The pane with the user's program, in which the current sub-expression is marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from textual.content import Content
from textual.message import Message
from textual.reactive import reactive

from microtape.recording.model.model import Place
from tui.time.cursor import StepCursor
from tui.time.source import place_of
from tui.widgets.lines.styled_text import StyledLine, TextSegment
from tui.widgets.pane import Pane
from tui.widgets.program_text import CURRENT, FAULT, ProgramText

ROLES = {"saved": "kept here", "modified": "overwritten here", "forward": "computed here", "raised": "raised here"}


class Culprit(NamedTuple):
    """The line of the finding that is shown."""

    place: Place
    kind: str  # what is wrong there, in a word or two
    is_here: bool  # whether the finding, rather than the moment, is to be in view


class SourcePane(Pane):
    """The file of the current operation, scrolled to its line. If a step failed, all lines involved are marked."""

    DEFAULT_CSS = "SourcePane { height: 11fr; }"
    NAME = "source"
    EXPLAINED = (
        "Your program. The expression that this node computed is marked; if a step failed, also the lines that saved "
        "and overwrote a value. Click a line to go to its next step, or its number to set a breakpoint, ◆. {edit} "
        "opens the line in your editor."
    )
    HANGING = 8

    stops: reactive[frozenset[int]] = reactive(frozenset(), repaint=False)  # nodes with a breakpoint
    culprit: reactive[Culprit | None] = reactive(None, repaint=False)

    @dataclass
    class Marked(Message):
        """Posted when the margin of a line, where breakpoints are marked, is clicked."""

        text: str  # names the line, with its file if there are several files

    def __init__(self, id: str = "", *, ascii: bool = False) -> None:
        super().__init__(id, ascii=ascii)
        self._program = ProgramText(ascii=ascii)
        self._file = ""
        self._line = 1

    def watch_stops(self) -> None:
        """Show the breakpoints, without scrolling away from the line that was clicked."""
        self.show(settle=False)

    def watch_culprit(self) -> None:
        """Mark the line of the finding."""
        self.show()

    def click_message(self, cursor: StepCursor, line: int, row: StyledLine, column: int) -> Message | None:
        """Go to the next step of an operation on the line; set a breakpoint in its margin."""
        nodes = [node for node in cursor.timeline.rows if line + 1 in _lines_of(cursor, node, self._file)]
        if nodes and column <= len(str(len(self._wrapped))) + 1:
            file = self._file if len(cursor.recording.sources) > 1 else ""
            return self.Marked(f"{file}:{line + 1}")
        moment = cursor.next_of(nodes)
        return None if moment is None else self.Chosen(moment)

    def lines(self, cursor: StepCursor) -> list[StyledLine]:
        """The whole file, numbered and highlighted, with the places of this moment marked."""
        place, faults, culprit = place_of(cursor), _faults(cursor), self.culprit
        if culprit is not None and culprit.place.line not in [one.line for _, one in faults]:
            faults = (*faults, (culprit.kind, culprit.place))
        leads = culprit.place if culprit is not None and culprit.is_here else place
        file = leads.file if leads else self._file or next(iter(cursor.recording.sources), "")
        code = cursor.recording.sources.get(file, "")
        if not code:
            where = f"{place.file}, line {place.line}: the source was not recorded." if place else "No source recorded."
            return [(TextSegment(where, "$text-muted"),)]
        if file != self._file:  # not at every step: a new subtitle repaints the whole pane
            self.border_subtitle = Content(file)
        self._file, self._line = file, leads.line if leads else self._line
        place = place if place is not None and place.file == file else None
        marks = [(place, CURRENT)] if place is not None else []
        marks += [(fault, FAULT) for _, fault in faults if fault.file == file]
        notes = {fault.line: ROLES.get(role, role) for role, fault in faults if fault.file == file}
        stops = {line for node in self.stops for line in _lines_of(cursor, node, file)[:1]}
        return self._program.lines(code, place, marks, notes, stops)

    def settle(self) -> None:
        """Scroll until the current line is in view, with a line above and below it."""
        row = self.row_of(self._line - 1)
        if not self.scroll_offset.y < row < self.scroll_offset.y + self.size.height - 1:
            self.scroll_to(y=row - self.size.height // 2, animate=False, force=True)


def _lines_of(cursor: StepCursor, node: int, file: str) -> range:
    """The lines of a node's expression in a file; none if it is in another file."""
    place = cursor.timeline.node(node).place
    return range(place.line, place.end_line + 1) if place is not None and place.file == file else range(0)


def _faults(cursor: StepCursor) -> tuple[tuple[str, Place], ...]:
    error = cursor.step.error if cursor.step else cursor.timeline.pass_.error if cursor.timeline.pass_ else None
    if cursor.is_forward or error is None or (cursor.step is None and cursor.timeline.steps):
        return ()
    return error.places
