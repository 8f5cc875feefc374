"""The panes of the screen inside a function: its source, its variables, its contract, its steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from textual.message import Message
from textual.reactive import reactive

from microtape.recording.model.model import Place
from tui.shell.spans import Line, Span, line
from tui.time.calls import CallCursor
from tui.time.cursor import StepCursor
from tui.time.node_names import AtLine
from tui.widgets.lines.role_styles import styled
from tui.widgets.lines.styled_text import StyledLine, TextSegment
from tui.widgets.pane import TextPane
from tui.widgets.program_text import CURRENT, FAULT, ProgramText
from tui.words.functions.contract import contract
from tui.words.functions.inside import InsideWords

NAMES, OPS, OPERANDS = (4, 20), (6, 12), (0, 26)  # the least and the most characters of a column
MARKS = {"done": "✓", "current": "▶", "raised": "✗", "to come": "·"}
ASCII_MARKS = {"done": "*", "current": ">", "raised": "x", "to come": "."}


class InsidePane(TextPane[CallCursor]):
    """A pane about a step inside of a function."""

    @dataclass
    class Chosen(Message):
        """Posted when a step is clicked."""

        position: int


class InsideSource(InsidePane):
    """The user's function, with the current expression marked."""

    DEFAULT_CSS = "InsideSource { height: 9fr; }"
    NAME = "inside-source"
    EXPLAINED = (
        "Your function. The expression of the current step is marked. Click a line to go to its next step, or its "
        "number to set a breakpoint, ◆."
    )
    HANGING = 8

    stops: reactive[AtLine | None] = reactive(None, repaint=False, always_update=True)

    @dataclass
    class Marked(Message):
        """Posted when the margin of a line, where breakpoints are marked, is clicked."""

        line: int

    def __init__(self, *, ascii: bool = False) -> None:
        super().__init__(ascii=ascii)
        self._program = ProgramText(ascii=ascii)
        self._first = self._shown = 1

    def watch_stops(self) -> None:
        """Show the breakpoints."""
        self.show(settle=False)

    def lines(self, cursor: CallCursor) -> list[StyledLine]:
        """The whole file."""
        place = cursor.step.place or cursor.call.place
        code = cursor.recording.sources.get(place.file, "") if place is not None else ""
        if place is None or not code:
            where = f"{place.file}, line {place.line}: the source" if place is not None else "The source"
            return [(TextSegment(f"{where} was not recorded.", "$text-muted"),)]
        begin = cursor.call.place
        self._shown = place.line
        self._first = begin.line if begin is not None and begin.file == place.file else place.line
        notes = {place.line: "raised here"} if cursor.step.kind == "raise" else {}
        count = len(code.splitlines())
        stops = {
            number for number in range(1, count + 1) if self.stops is not None and self.stops(_line(place, number))
        }
        return self._program.lines(code, place, [(place, FAULT if notes else CURRENT)], notes, stops)

    def settle(self) -> None:
        """Scroll until the current line is in view, from the beginning of the function if both fit."""
        first, row, height = self.row_of(self._first - 1), self.row_of(self._shown - 1), self.size.height
        if first <= row < first + height:
            self.scroll_to(y=first, animate=False, force=True)
        elif not self.scroll_offset.y < row < self.scroll_offset.y + height - 1:
            self.scroll_to(y=row - height // 2, animate=False, force=True)

    def click_message(self, cursor: CallCursor, line: int, row: StyledLine, column: int) -> Message | None:
        """Go to the next step on the line; set a breakpoint in its margin."""
        steps = cursor.call.steps
        here = [i for i, one in enumerate(steps) if one.place is not None
                and one.place.line <= line + 1 <= one.place.end_line]  # fmt: skip
        if column <= len(str(len(self._wrapped))) + 1:
            return self.Marked(line + 1)
        there = next((i for i in here if i > cursor.position), here[0] if here else None)
        return None if there is None else self.Chosen(there)


def _line(place: Place, number: int) -> Place:
    return place._replace(line=number, end_line=number)


class InsideVariables(InsidePane):
    """The result of the step, and the variables of the function."""

    DEFAULT_CSS = "InsideVariables { height: 7fr; }"
    NAME = "variables"
    EXPLAINED = (
        "The result of this step, then the variables of your function and the attributes of ctx, as they were before "
        "the result was assigned. new and was: what has changed since the step before. {array} shows all numbers."
    )

    def lines(self, cursor: CallCursor) -> list[StyledLine]:
        """A line for each variable."""
        words = InsideWords(cursor, max(min(self.text_width - 34, 60), 16))
        found = list(words.variables(cursor.position))
        width = _width((len(one.name) for one in found), NAMES)
        rows = [line(Span(one.name.ljust(width), "name"), "  ", *one.text) for one in found]
        return [styled(one, ascii=self.ascii) for one in rows or [line(Span("It has no variables yet.", "dim"))]]


class InsideContract(InsidePane):
    """What the Function promised to autograd, if it is one."""

    DEFAULT_CSS = "InsideContract { height: 1fr; }"
    NAME = "contract"
    EXPLAINED = (
        "What this call of your Function promised to autograd: its arguments and whether they need a gradient, what "
        "its outputs are, what it saved, the attributes of ctx. The arrows are the gradients that it received and "
        "returned."
    )
    HANGING = 8
    KINDS = ("forward", "setup_context", "backward", "jvp")

    def __init__(self, moment: StepCursor, *, ascii: bool = False) -> None:
        """`moment` is that of the stepper."""
        super().__init__(ascii=ascii)
        self._moment = moment

    def watch_cursor(self) -> None:
        """Leave the room to the other panes where the function is no Function."""
        cursor = self.cursor
        self.display = cursor is not None and any(self._contract(cursor, 80))
        super().watch_cursor()

    def lines(self, cursor: CallCursor) -> list[StyledLine]:
        """See `contract`."""
        return [styled(one, ascii=self.ascii) for one in self._contract(cursor, self.text_width)]

    def _contract(self, cursor: CallCursor, width: int) -> Iterator[Line]:
        node = cursor.call.node
        if node is not None and cursor.call.kind in self.KINDS:
            yield from contract(self._moment, node, width)


class InsideSteps(InsidePane):
    """What ran in the function: what is done, the current step, and what is to come."""

    DEFAULT_CSS = "InsideSteps { height: 8fr; }"
    NAME = "steps"
    EXPLAINED = (
        "What ran in your function: the operations with their results, what was unpacked from ctx, the functions and "
        "passes that it called ({step_into} opens one), and at the end what becomes of what it returned. "
        "Click a row to go there."
    )
    HANGING = 6

    def __init__(self, into: Callable[[], str], *, ascii: bool = False) -> None:
        """`into` is the key that opens a call."""
        super().__init__(ascii=ascii)
        self._into = into
        self._row = 0
        self._positions: list[int | None] = []  # of the lines

    def lines(self, cursor: CallCursor) -> list[StyledLine]:
        """A line for each step, and one where steps were left out."""
        found: list[StyledLine] = []
        self._positions = []
        for position, spans in self._listed(cursor):
            if position == cursor.position:
                self._row = len(found)
            self._positions.append(position)
            found.append(styled(spans, ascii=self.ascii))
        return found

    def _listed(self, cursor: CallCursor) -> Iterator[tuple[int | None, Line]]:
        words = InsideWords(cursor, max(min(self.text_width // 3, 44), 16))
        rows, marks = words.rows, ASCII_MARKS if self.ascii else MARKS
        ops = _width((len(one.op) for one in rows), OPS)
        operands = _width((len(one.operands) for one in rows), OPERANDS)
        digits = len(str(cursor.count))
        for position, row in enumerate(rows):
            if words.gap and position == cursor.call.left_out_at:
                yield None, line(Span(f"{'':{digits + 2}} {words.gap}", "dim"))
            here = position == cursor.position
            step = cursor.call.steps[position]
            state = "raised" if step.kind == "raise" else "current" if here else "to come"
            mark = marks["done" if position < cursor.position and state == "to come" else state]
            number = cursor.to(position).number
            begin = Span(f"{mark} {number:>{digits}} ", "bad" if state == "raised" else "strong" if here else "dim")
            if not row.operands and step.kind in ("enter", "return", "raise", "unpack"):
                text = line(Span(row.op.ljust(ops + 1), "op"), *row.result)
            else:
                given = row.operands.ljust(operands)
                text = line(Span(row.op.ljust(ops), "op"), f" {given}  ", *row.result)
            if here and step.inner is not None and step.kind in ("call", "pass"):
                text = line(*text, Span(f"   {self._into()} opens it", "good"))
            if position > cursor.position:
                text = line(*(Span(one.text, "dim") for one in text))
            yield position, line(begin, *text)

    def settle(self) -> None:
        """Scroll until the current step is in view, with the next one below it."""
        row, top, height = self.row_of(self._row), self.scroll_offset.y, self.size.height
        if not top <= row < top + height - 1:
            self.scroll_to(y=max(row - height // 2, 0), animate=False, force=True)

    def click_message(self, cursor: CallCursor, line: int, row: StyledLine, column: int) -> Message | None:
        """Go to the step of the line."""
        position = self._positions[line] if line < len(self._positions) else None
        return None if position is None else self.Chosen(position)


def _width(lengths: Iterator[int], limits: tuple[int, int]) -> int:
    least, most = limits
    return min(max([least, *lengths]), most)
