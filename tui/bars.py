"""The two lines at the top: which recording and pass this is, and where in its time we are."""

from __future__ import annotations

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from tui.cursor import StepCursor
from tui.trace import pass_number, pass_title, where


class Heading(Widget):
    """The script, the pass, its outcome, and the count of steps."""

    DEFAULT_CSS = "Heading { height: 1; }"

    cursor: reactive[StepCursor | None] = reactive(None)

    def render(self) -> Content:
        """One line, the count on the right."""
        if self.cursor is None:
            return Content("")
        left, right = _what(self.cursor), Content.styled(_count(self.cursor), "bold")
        room = self.size.width - right.cell_length - 2
        return Content.assemble(" ", left.truncate(room - 1, ellipsis=True, pad=True), " ", right)


class TimeBar(Widget):
    """A line as long as the pass: the program's operations, then the steps of backward, filled as far as we are."""

    DEFAULT_CSS = "TimeBar { height: 1; }"

    cursor: reactive[StepCursor | None] = reactive(None)

    def __init__(self, *, ascii: bool = False) -> None:
        super().__init__()
        self._ascii = ascii

    def render(self) -> Content:
        """Two bars side by side, each as wide as its share."""
        if self.cursor is None or self.size.width < 30:
            return Content("")
        timeline, ascii = self.cursor.timeline, self._ascii
        operations, steps = len(timeline.forward), len(timeline.steps)
        words = (" forward ", " backward ")
        room = self.size.width - sum(map(len, words)) - 1
        share = round(room * operations / (operations + steps)) if operations + steps else room // 2
        share = min(max(share, 4), room - 4)
        forward = _bar(min(self.cursor.position, operations), operations, share, ascii)
        backward = _bar(self.cursor.steps_done, steps, room - share, ascii)
        if not ascii and timeline.pass_ is not None and timeline.pass_.error is not None:
            backward = (backward[0][:-1], backward[1][:-1] + "✗") if backward[1] else (backward[0][:-1] + "✗", "")
        return Content.assemble(
            (words[0], "$text-muted"), (forward[0], "$text-secondary"), (forward[1], "$text-disabled"),
            (words[1], "$text-muted"), (backward[0], "$text-accent"), (backward[1], "$text-disabled"),
        )  # fmt: skip


def _bar(done: int, count: int, width: int, ascii: bool) -> tuple[str, str]:
    filled = round(width * done / count) if count else 0
    return ("=" if ascii else "━") * filled, ("-" if ascii else "─") * (width - filled)


def _what(cursor: StepCursor) -> Content:
    one, separator = cursor.timeline.pass_, Content.styled("  ", "$text-muted")
    title = Content.styled(cursor.recording.title, "bold")
    if one is None:
        return title + separator + Content("backward was never called")
    which = Content(pass_number(cursor.recording, cursor.timeline.pass_index))
    call = Content.styled(f"{pass_title(cursor.recording, one)}  {where(one.place)}", "$text-primary")
    failed = separator + Content.styled(f"failed: {one.error.type}", "bold $text-error") if one.error else Content("")
    return title + separator + which + failed + separator + call


def _count(cursor: StepCursor) -> str:
    if cursor.is_forward:
        return f"operation {cursor.position} of {len(cursor.timeline.forward)}"
    return f"step {cursor.steps_done} of {len(cursor.timeline.steps)}"
