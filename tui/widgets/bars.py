"""The two lines at the top: the heading with recording and pass, and the time bar with the current moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from microtape.basics.ranks import rank_said
from microtape.recording.model.model import Pass, Recording
from tui.shell.spans import shown
from tui.time.cursor import StepCursor
from tui.widgets.lines.strip_renderer import StripRenderer
from tui.widgets.lines.styled_text import StyledLine, TextSegment
from tui.words.trace import never_called, pass_number, pass_title

_PLACE_WIDTH = 36
FORWARD, BACKWARD = " forward ", " backward "
MARKS = {"leaf": "┷", "finding": "!", "stop": "◆", "failed": "✗"}
ASCII_MARKS = {"leaf": "+", "finding": "!", "stop": "B", "failed": "x"}
STYLES = {"finding": "bold $text-warning", "stop": "bold $text-success", "failed": "bold $text-error"}


class Heading(Widget):
    """The script, the pass, its outcome, and the count of steps."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "Heading { height: 1; }"

    cursor: reactive[StepCursor | None] = reactive(None)
    speed: reactive[float] = reactive(0.0)  # steps per second; 0: not playing
    score: reactive[tuple[int, int] | None] = reactive(
        None
    )  # while predicting: the number of right answers, and of all answers
    working: reactive[str] = reactive("")  # the background task, in words
    found: reactive[str] = reactive("")  # while searching: `mul: 2 of 7`

    def __init__(self, *, ascii: bool = False) -> None:
        super().__init__()
        self._ascii = ascii
        self._renderer = StripRenderer(self)

    def notify_style_update(self) -> None:
        """Clear the cache of styles: colours have changed."""
        self._renderer.clear()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """The heading, with the count of steps on the right. Drawn as a strip, because it changes at every step."""
        width, renderer = self.size.width, self._renderer
        if self.cursor is None or y:
            return renderer.line((), width)
        playing = f"playing, {self.speed:g} per second   " if self.speed else ""
        right, asked = self.score or (0, 0)
        predicts = "" if self.score is None else f"predict: {right} of {asked} right   " if asked else "predict   "
        more = [shown(one, ascii=self._ascii) for one in (self.found, self.working) if one]
        says = playing + predicts + "".join(f"{one}   " for one in more)
        counts = TextSegment(says, "$text-accent"), TextSegment(_count(self.cursor), "bold"), TextSegment(" ")
        count = renderer.strip(counts)
        room = width - count.cell_length - 1
        what = (segment._replace(text=shown(segment.text, ascii=self._ascii)) for segment in _what(self.cursor, room))
        left = renderer.strip((TextSegment(" "), *what))
        if left.cell_length > room:
            cut = "..." if self._ascii else "…"
            left = Strip.join([left.crop(0, room - len(cut)), renderer.strip((TextSegment(cut),))])
        return Strip.join([left.adjust_cell_length(room + 1, renderer.style("")), count]).crop(0, width)


class TimeBar(Widget):
    """A bar for the whole pass: the program's operations, then the steps of backward, filled up to this moment.

    Marks show leaves, findings, stops and failures. A click goes to the moment under the mouse.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = "TimeBar { height: 1; }"

    cursor: reactive[StepCursor | None] = reactive(None, repaint=False)
    stops: reactive[tuple[int, ...]] = reactive(())
    findings: reactive[tuple[int, ...]] = reactive(())

    @dataclass
    class Chosen(Message):
        """Posted when a moment is clicked."""

        moment: int

    def __init__(self, *, ascii: bool = False) -> None:
        super().__init__()
        self._ascii = ascii
        self._drawn: list[tuple[str, str]] = []
        self._known: tuple[object, tuple[Mapping[int, str], Mapping[int, str]]] | None = None

    def watch_cursor(self) -> None:
        """Repaint if a cell has changed: in a long pass, most steps change no cell."""
        if self._line != self._drawn:
            self.refresh()

    def render(self) -> Content:
        """The bars of forward and backward side by side."""
        self._drawn = self._line
        return Content.assemble(*self._drawn)

    def on_click(self, event: Click) -> None:
        """Go to the moment under the mouse."""
        if self.cursor is None or self.size.width < 30:
            return
        timeline, share = self.cursor.timeline, self._share(self.cursor)
        operations, x = len(timeline.forward), event.x - len(FORWARD)
        if x < share:
            moment = round(max(x, 0) / max(share - 1, 1) * operations)
        else:
            room = self._room - share
            moment = operations + round(max(x - share - len(BACKWARD), 0) / max(room - 1, 1) * len(timeline.steps))
        self.post_message(self.Chosen(moment))

    @property
    def _line(self) -> list[tuple[str, str]]:
        if self.cursor is None or self.size.width < 30:
            return []
        forward, backward = self._cells(self.cursor)
        return [(FORWARD, "$text-muted"), *forward, (BACKWARD, "$text-muted"), *backward]

    @property
    def _room(self) -> int:
        return self.size.width - len(FORWARD) - len(BACKWARD) - 1

    def _share(self, cursor: StepCursor) -> int:
        """The number of cells of the forward bar."""
        operations, steps = len(cursor.timeline.forward), len(cursor.timeline.steps)
        share = round(self._room * operations / (operations + steps)) if operations + steps else self._room // 2
        return min(max(share, 4), self._room - 4)

    def _cells(self, cursor: StepCursor) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """Both bars as stretches of text with their styles."""
        operations, steps = len(cursor.timeline.forward), len(cursor.timeline.steps)
        share = self._share(cursor)
        forward, backward = self._marks(cursor, share)
        full, empty = ("=", "-") if self._ascii else ("━", "─")
        glyphs = ASCII_MARKS if self._ascii else MARKS

        def bar(done: int, count: int, width: int, colour: str, marks: Mapping[int, str]) -> list[tuple[str, str]]:
            filled = round(width * done / count) if count else 0
            segments: list[tuple[str, str]] = []
            for at in range(width):
                ground = (full, colour) if at < filled else (empty, "$text-disabled")
                name = marks.get(at)
                glyph, style = ground if name is None else (glyphs[name], STYLES.get(name, ground[1]))
                if segments and segments[-1][1] == style:
                    segments[-1] = (segments[-1][0] + glyph, style)
                else:
                    segments.append((glyph, style))
            return segments

        before = bar(min(cursor.position, operations), operations, share, "$text-secondary", forward)
        return before, bar(cursor.steps_done, steps, self._room - share, "$text-accent", backward)

    def _marks(self, cursor: StepCursor, share: int) -> tuple[Mapping[int, str], Mapping[int, str]]:
        """The marks of both bars, by cell. They are cached, because finding them visits every step."""
        key = (id(cursor.timeline), self.stops, self.findings, self.size.width)
        if self._known is not None and self._known[0] == key:
            return self._known[1]
        timeline = cursor.timeline
        operations, steps = len(timeline.forward), len(timeline.steps)
        leaves = (operations + 1 + timeline.leaf_steps).tolist()
        failed = [timeline.last] if timeline.pass_ is not None and timeline.pass_.has_failed else []
        bars: tuple[dict[int, str], dict[int, str]] = ({}, {})
        for name, moments in (
            ("leaf", leaves),
            ("finding", self.findings),
            ("stop", self.stops),
            ("failed", failed),
        ):
            for moment in moments:  # several marks may share a cell: the most important one, written last, wins
                late = moment > operations
                first, count, width = (operations, steps, self._room - share) if late else (0, operations, share)
                bars[late][min(max(round(width * (moment - first) / max(count, 1)) - 1, 0), width - 1)] = name
        self._known = (key, bars)
        return bars


def _what(cursor: StepCursor, room: int) -> StyledLine:
    """The program, the pass and its call; the folder of its file only if there is room for it."""
    one, gap = cursor.timeline.pass_, TextSegment("  ")
    rank = rank_said(cursor.recording.options)
    title = TextSegment(cursor.recording.title if rank is None else f"{cursor.recording.title} rank {rank}", "bold")
    if one is None:
        return title, gap, TextSegment(never_called(cursor.recording))
    which = TextSegment(pass_number(cursor.recording, cursor.timeline.pass_index))
    before = title, gap, which, *_problem(cursor.recording, one), gap
    call = f"{pass_title(cursor.recording, one)}  "
    left = room - 1 - sum(len(part.text) for part in before) - len(call)
    where = one.place.at_within(min(left, _PLACE_WIDTH)) if one.place is not None else ""
    return *before, TextSegment(f"{call}{where}", "$text-primary")


def _problem(recording: Recording, one: Pass) -> StyledLine:
    """`failed: ValueError`, or that a part of the recording is missing."""
    if one.has_failed and one.error is not None:
        text = f"failed: {one.error.type}"
    else:
        text = "not all recorded" if recording.faults else ""
    return (TextSegment("  "), TextSegment(text, "bold $text-error")) if text else ()


def _count(cursor: StepCursor) -> str:
    if cursor.is_forward:
        return f"operation {cursor.position} of {len(cursor.timeline.forward)}"
    return f"step {cursor.steps_done} of {len(cursor.timeline.steps)}"
