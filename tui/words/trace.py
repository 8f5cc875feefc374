"""The views of the stepper as plain text, also for screen readers: a recording, or one step of it, as lines."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from microtape.recording.findings import findings
from microtape.recording.model.model import Pass, Place, Recording
from microtape.recording.model.source import expression, source_lines
from tui.shell.lesson_names import lesson_of_error
from tui.shell.spans import Line, plain, shown, wrapped
from tui.time.calls import CallCursor
from tui.time.column_widths import HEADINGS, ColumnWidths, heading
from tui.time.cursor import StepCursor
from tui.time.event_rows import EndRow, WriteRow
from tui.time.listing import FoldedTape, GroupRow, Listing
from tui.time.row_texts import RowTexts, fit
from tui.time.source import place_of
from tui.time.timeline import Timeline
from tui.words.differences import checks_of
from tui.words.event_rows import event_line
from tui.words.findings import row_of
from tui.words.functions.inside_lines import call_lines
from tui.words.jacobians import derivative_lines
from tui.words.pane_texts import LABEL, PaneTexts
from tui.words.sentence import computed, sentence
from tui.words.titles import title
from tui.words.why import answer_lines

INDENT = "  "
LONG = 120  # characters that the row of an event may take
AROUND = 2  # lines above and below the one that matters
MARKS = {"current": ">", "delivered": "+"}


def trace(
    recording: Recording,
    passes: Iterable[int] | None = None,
    *,
    width: int = 100,
    ascii: bool = False,
    into: bool = False,
) -> Iterator[str]:
    """The passes at these indices (None: all) with every step, in order. Nothing is left out.

    With `into`, what ran inside of the user's functions follows the step in which it ran.
    """
    yield from _opening(recording)
    yield from (
        text
        for one in findings(recording)
        for text in wrapped(plain(row_of(one, ascii=ascii), ascii=ascii), width, "", "  ")
    )
    for index in range(len(recording.passes)) if passes is None else passes:
        yield ""
        yield from _trace_pass(_Printer(Timeline(recording, index), width, ascii, into=into))
    yield from _closing(recording)


def _trace_pass(printer: _Printer) -> Iterator[str]:
    """One pass: its tape with the final values and gradients, then every step, then the leaves."""
    yield from printer.heading()
    yield ""
    yield from printer.tape(printer.cursor(len(printer.timeline.steps)))
    for done in range(len(printer.timeline.steps) + 1):
        yield ""
        yield from printer.step(printer.cursor(done))
        yield from printer.derivative(printer.cursor(done), only_wrong=True)
    yield ""
    yield from printer.leaves(printer.cursor(len(printer.timeline.steps)))


def trace_step(
    recording: Recording, steps: int, pass_index: int = 0, *, width: int = 100, ascii: bool = False
) -> Iterator[str]:
    """The moment after that many steps of a pass; see `trace_moment`."""
    yield from trace_moment(StepCursor.after(recording, steps, pass_index), width=width, ascii=ascii)


def trace_moment(cursor: StepCursor, *, width: int = 100, ascii: bool = False, into: bool = False) -> Iterator[str]:
    """A moment: the tape, what happened, the source, the leaves, the engine."""
    printer = _Printer(cursor.timeline, width, ascii, into=into)
    yield from printer.heading()
    yield ""
    yield from printer.tape(cursor, marks=True)
    yield ""
    yield from printer.step(cursor)
    yield from printer.derivative(cursor)
    yield ""
    yield from printer.source(cursor)
    yield from printer.leaves(cursor)
    yield ""
    yield from printer.engine(cursor)


def trace_forward(cursor: StepCursor, *, width: int = 100, ascii: bool = False, into: bool = False) -> Iterator[str]:
    """Every operation before the pass, in order."""
    printer = _Printer(cursor.timeline, width, ascii, into=into)
    yield from printer.heading()
    for index in range(len(cursor.timeline.forward)):
        yield ""
        yield from printer.operation(cursor, index)


def trace_rows(cursor: StepCursor, nodes: Collection[int], *, width: int = 100, ascii: bool = False) -> Iterator[str]:
    """Only the rows of these nodes, at a moment."""
    printer = _Printer(cursor.timeline, width, ascii)
    yield from printer.rows_of(cursor, Listing.only(cursor.timeline, nodes))


def trace_folded(cursor: StepCursor, *, width: int = 100, ascii: bool = False) -> Iterator[str]:
    """The tape at a moment, with each repetition folded into one row."""
    printer = _Printer(cursor.timeline, width, ascii)
    yield from printer.rows_of(cursor, FoldedTape(cursor.timeline).listing((), None))


def trace_why(cursor: StepCursor, text: str, *, width: int = 100, ascii: bool = False) -> Iterator[str]:
    """Why a gradient has its value, back to the seed along the largest terms; or why there is none.

    Raises:
        LookupError: the text names nothing; the message is for the user.
    """
    for spans in answer_lines(cursor, text):
        indent = " " * (len(spans[0].text) - len(spans[0].text.lstrip())) if spans else ""
        yield from wrapped(plain(spans, ascii=ascii), width, hanging=indent + INDENT) or [""]


def pass_title(recording: Recording, one: Pass) -> str:
    """`z.backward()`: the call as the user wrote it, else its kind."""
    return expression(recording, one.place) or f"{one.kind}()"


def pass_number(recording: Recording, pass_index: int) -> str:
    """`pass 2 of 3`, from 1; if some passes were not recorded, `pass 200 (1 of 3 recorded)`."""
    number, count = recording.passes[pass_index].index + 1, len(recording.passes)
    if number == pass_index + 1:
        return f"pass {number} of {count}"
    return f"pass {number} ({pass_index + 1} of {count} recorded)"


def _opening(recording: Recording) -> Iterator[str]:
    operations = sum(node.kind != "accumulate" for node in recording.nodes)
    passes = len(recording.passes)
    leaves = len(recording.nodes) - operations
    yield (
        f"{recording.title}: {_count(operations, 'operation')} and {_count(leaves, 'leaf', 'leaves')} on the tape, "
        + (_count(passes, "backward pass", "backward passes") if passes else never_called(recording))
    )


def never_called(recording: Recording) -> str:
    """Why there is no pass."""
    return "no backward pass was recorded" if recording.faults else "backward was never called"


def _closing(recording: Recording) -> Iterator[str]:
    if recording.error is not None:
        yield ""
        yield f"The program ended with {recording.error.type}: {recording.error.message}"
        if lesson := lesson_of_error(recording):
            yield lesson
    for note in recording.notes:
        yield ""
        yield f"Note: {note}"


class _Printer:
    """Prints moments of one pass."""

    def __init__(self, timeline: Timeline, width: int, ascii: bool, *, into: bool = False) -> None:
        self.recording = timeline.recording
        self.into = into
        self.timeline = timeline
        self.width = width
        self.ascii = ascii
        self.rows = RowTexts.of(timeline, ascii=ascii)
        self.columns: ColumnWidths  # of the rows that are printed
        self.listing = Listing.of(timeline)

    def cursor(self, steps: int) -> StepCursor:
        return StepCursor(self.timeline, len(self.timeline.forward) + steps)

    def heading(self) -> Iterator[str]:
        one = self.timeline.pass_
        if one is None:
            yield "No backward pass was recorded."
            return
        count = _count(len(self.timeline.steps), "step")
        end = f"complete, {count}"
        if not one.is_complete:
            steps = len(self.timeline.steps)
            end = f"failed at step {steps}" if one.has_failed else f"recorded up to step {steps}"
        number = pass_number(self.recording, self.timeline.pass_index).capitalize()
        yield self._rule(number, pass_title(self.recording, one), place_text(one.place), end)

    def rows_of(self, cursor: StepCursor, listing: Listing) -> Iterator[str]:
        """The rows of a listing, with each fold in one row."""
        width = self.width - len(INDENT) - 2
        columns = self.columns = self.rows.columns(width, listing.lanes, forward=cursor.is_forward)
        yield f"{INDENT}  {self._row(tuple(map(heading, HEADINGS, columns.widths)))}".rstrip()
        for at, entry in enumerate(listing.entries):
            drawn = listing.lanes.draw(at, columns.lane_limit, ascii=self.ascii)[0]
            if isinstance(entry, int):
                yield f"{INDENT}  {self._row(self._cells(cursor, entry, drawn))}".rstrip()
            elif isinstance(entry, GroupRow):
                done = cursor.count_done(listing.tape_rows(at))
                what = f"{'+' if self.ascii else '▸'} {entry.group.title}   {done} of {len(entry.nodes)} done"
                lanes = fit(drawn, columns.lanes)
                yield f"{INDENT}  {' ' * columns.number} {lanes} {shown(what, ascii=self.ascii)}"

    def source(self, cursor: StepCursor) -> Iterator[str]:
        """The lines around the moment's place, with the expression underlined."""
        place = place_of(cursor)
        code = source_lines(cursor.recording, place.file) if place is not None else []
        if place is None or not code:
            return
        yield self._rule("Source", place.file)
        first, last = max(place.line - AROUND, 1), min(place.end_line + AROUND, len(code))
        digits = len(str(last))
        for number in range(first, last + 1):
            here = place.line <= number <= place.end_line
            text = shown(code[number - 1], ascii=self.ascii)
            yield f"{INDENT}{'>' if here else ' '} {number:>{digits}}  {text}".rstrip()
            if here:
                begin = place.column if number == place.line else len(text) - len(text.lstrip())
                end = place.end_column if number == place.end_line else len(text)
                yield f"{INDENT}  {'':{digits}}  {' ' * begin}{'^' * max(end - begin, 1)}"
        yield ""

    def tape(self, cursor: StepCursor, *, marks: bool = False) -> Iterator[str]:
        width = self.width - len(INDENT) - 2
        self.columns = self.rows.columns(width, self.listing.lanes, forward=cursor.is_forward)
        if self.timeline.rows:
            yield f"{INDENT}  {self._row(tuple(map(heading, HEADINGS, self.columns.widths)))}".rstrip()
        for row, entry in enumerate(self.listing.entries):
            drawn = self.listing.lanes.draw(row, self.columns.lane_limit, ascii=self.ascii)[0]
            if isinstance(entry, int):
                mark = self._mark(cursor, entry) if marks else " "
                yield f"{INDENT}{mark} {self._row(self._cells(cursor, entry, drawn))}".rstrip()
            elif isinstance(entry, WriteRow | EndRow):
                before = f"{INDENT}  {' ' * self.columns.number} {fit(drawn, self.columns.lanes)} "
                event = event_line(cursor, self.rows, entry, max(self.width, LONG) - len(before), self.columns.value)
                yield before + self._text(event)

    def step(self, cursor: StepCursor) -> Iterator[str]:
        node = cursor.node
        if cursor.is_forward and node is not None:
            yield from self.operation(cursor, cursor.position - 1)
        elif node is None:
            yield self._rule("Before the first operation" if cursor.is_forward else "Before the first step")
            yield from self._wrapped(self._text(sentence(cursor)))
        else:
            place = self.timeline.node(node).place
            name = self._text(title(cursor, node))
            count = f"Step {cursor.steps_done} of {len(self.timeline.steps)}"
            yield self._rule(count, name, place_text(place), expression(self.recording, place))
            yield from self._wrapped(self._text(sentence(cursor)))
            for spans in self._pane_texts(cursor).node():
                yield from self._wrapped(self._text(spans), hanging=LABEL)
            yield from self._inside(cursor)

    def derivative(self, cursor: StepCursor, *, only_wrong: bool = False) -> Iterator[str]:
        """The check of the current node's derivative, if it was checked."""
        found = checks_of(cursor, cursor.step.node) if cursor.step is not None else None
        if cursor.step is None or found is None or (only_wrong and not found.differ):
            return
        yield ""
        yield self._rule("Derivative")
        for spans in derivative_lines(cursor, cursor.step.node, self.width - len(INDENT)):
            yield from self._wrapped(self._text(spans), hanging=LABEL) or [""]

    def operation(self, cursor: StepCursor, index: int) -> Iterator[str]:
        """One of the operations before backward."""
        node = self.timeline.node(self.timeline.forward[index])
        count = f"Operation {index + 1} of {len(self.timeline.forward)}"
        name = self._text(title(cursor, node.id))
        yield self._rule(count, name, place_text(node.place), expression(self.recording, node.place))
        moment = cursor.to_moment(index + 1)
        yield from self._wrapped(self._text(computed(moment, node.id)))
        for spans in self._pane_texts(moment).operation(node):
            yield from self._wrapped(self._text(spans), hanging=LABEL)
        yield from self._inside(moment)

    def _inside(self, moment: StepCursor) -> Iterator[str]:
        """What ran inside of the user's functions in a step."""
        calls = self.timeline.calls.get(moment.position, ()) if self.into else ()
        for at in range(len(calls)):
            for indent, spans in call_lines(CallCursor(self.recording, calls, at)):
                text = self._text(spans)
                yield from wrapped(text, self.width, INDENT + indent, INDENT + indent + " " * 14) or [""]

    def leaves(self, cursor: StepCursor) -> Iterator[str]:
        yield self._rule("Leaves")
        for spans in self._pane_texts(cursor).leaves():
            yield from self._wrapped(self._text(spans))

    def engine(self, cursor: StepCursor) -> Iterator[str]:
        yield self._rule("Engine")
        for spans in self._pane_texts(cursor).engine():
            yield from self._wrapped(self._text(spans), hanging=LABEL)

    def _pane_texts(self, cursor: StepCursor) -> PaneTexts:
        return PaneTexts(cursor, self.width - len(INDENT), limit=None)

    def _text(self, spans: Line) -> str:
        return plain(spans, ascii=self.ascii)

    def _wrapped(self, text: str, hanging: int = 0) -> list[str]:
        return wrapped(text, self.width, INDENT, INDENT + " " * hanging)

    def _cells(self, cursor: StepCursor, node: int, lanes: str) -> tuple[str, ...]:
        rows, columns, record = self.rows, self.columns, self.timeline.node(node)
        return (
            str(node).rjust(columns.number),
            lanes,
            rows.op(record),
            rows.name(record, columns.name),
            rows.operands(record),
            rows.shape(record),
            rows.value(cursor, node, columns.value),
            rows.gradient(cursor, node, columns.gradient),
            rows.size(cursor, node, columns.size) if columns.size else "",
        )

    def _row(self, cells: tuple[str, ...]) -> str:
        widths = self.columns.widths
        columns = ((cell, width) for cell, width in zip(cells, widths, strict=True) if width)
        return " ".join(fit(cell, width, ascii=self.ascii) for cell, width in columns)

    def _mark(self, cursor: StepCursor, node: int) -> str:
        if node == cursor.node:
            return MARKS["current"]
        return MARKS["delivered"] if node in cursor.delivered_to else " "

    def _rule(self, *parts: str) -> str:
        text = shown(("  -  " if self.ascii else "  ·  ").join(part for part in parts if part), ascii=self.ascii)
        dash = "-" if self.ascii else "─"
        return f"{dash * 2} {text} ".ljust(self.width, dash).rstrip()


def place_text(place: Place | None) -> str:
    """`train.py:7`, or nothing."""
    return "" if place is None else place.at


def _count(count: int, noun: str, plural: str = "") -> str:
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
