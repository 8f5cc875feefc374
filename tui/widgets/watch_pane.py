"""The watch pane: the watched tensors at this moment and when they change; below them, the breakpoints."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from textual.reactive import reactive

from microtape.recording.model.formatting import format_value
from tui.shell.key_names import KeyNames
from tui.shell.spans import Line, Role, Span, line
from tui.shell.user_keys import actions_of
from tui.time.breakpoints import Breakpoint, Breakpoints
from tui.time.cursor import StepCursor
from tui.widgets.lines.role_styles import styled
from tui.widgets.lines.styled_text import StyledLine
from tui.widgets.pane import Pane
from tui.words.titles import title

LABEL = 9  # the width of the labels on the left, as in the other panes
BEFORE, AFTER = 3, 5  # the most moments listed before and after the current one
MANY = 6  # the most nodes listed for one watch
EMPTY = "{ask('watch')} watches a tensor or a leaf, {ask('break at')} sets a breakpoint."


class WatchPane(Pane):
    """The watches and breakpoints. The pane is shown while there is at least one."""

    DEFAULT_CSS = "WatchPane { height: 9fr; }"
    NAME = "watch"
    EXPLAINED = (
        "The watched tensors at this moment, and the steps at which they change; below them, your breakpoints and the "
        "steps at which they stop. {ask('watch')} sets a watch and {ask('break at')} a breakpoint; repeated, they "
        "remove it. {stops} lists them all."
    )
    HANGING = LABEL

    breakpoints: reactive[Breakpoints | None] = reactive(None, repaint=False)

    def watch_breakpoints(self) -> None:
        """Show the change: a breakpoint or a watch was set or removed. Those of another pass wait for its cursor."""
        if self.breakpoints is None or self.cursor is None or self.breakpoints.timeline is self.cursor.timeline:
            self.show()

    @property
    def is_empty(self) -> bool:
        """Whether there is neither a watch nor a breakpoint."""
        return not self._every

    @property
    def _every(self) -> tuple[Breakpoint, ...]:
        return self.breakpoints.every if self.breakpoints is not None else ()

    def lines(self, cursor: StepCursor) -> list[StyledLine]:
        """See `watched`; without a watch or breakpoint, the keys that set one."""
        if self.is_empty:
            keys = KeyNames(actions_of(self.screen), ascii=self.ascii)
            return [styled(line(Span(keys.spell(EMPTY), "dim")), ascii=self.ascii)]
        return [styled(one, ascii=self.ascii) for one in watched(cursor, self._every, self.text_width)]


def watched(cursor: StepCursor, every: tuple[Breakpoint, ...], width: int) -> Iterator[Line]:
    """The watches with their values and gradients, then the breakpoints with the steps at which they stop."""
    for one in (one for one in every if one.kind == "watch"):
        for node in sorted(one.nodes)[:MANY]:
            yield from _node(cursor, node, width)
        if len(one.nodes) > MANY:
            yield line(Span(f"{'':{LABEL}}and {len(one.nodes) - MANY:,} more called {one.text}", "dim"))
        if not one.nodes:
            yield line(Span(one.text, "name"), Span("  is not in this pass", "dim"))
        yield line(Span("changes".ljust(LABEL), "label"), *_moments(cursor, one))
    for one in (one for one in every if one.kind == "break"):
        yield line(Span("stop at".ljust(LABEL), "label"), Span(one.text, "strong"), "  ", *_moments(cursor, one))


def _node(cursor: StepCursor, node: int, width: int) -> Iterator[Line]:
    record = cursor.timeline.node(node)
    value, room = cursor.value(node), max(width - LABEL - 18, 16)
    missing = "not kept" if cursor.exists(node) else "not there yet"
    kept = Span(missing, "dim") if value is None else Span(format_value(value, room), "value")
    yield line(*title(cursor, node), Span("  value ", "label"), kept)
    arrived, left = len(cursor.arrived(node)), cursor.dependencies_left(node)
    count = arrived + left
    terms = f"  {arrived} of {count} term{'' if count == 1 else 's'}" if left and not cursor.is_forward else ""
    gradient = cursor.gradient(node)
    label = Span("gradient".ljust(LABEL), "label")
    yield line(label, Span(format_value(gradient, room), "gradient" if gradient is not None else "dim"),
               Span(terms, "dim"))  # fmt: skip
    if record.variable is not None:
        grad = cursor.leaf(record.variable).grad
        shows = Span(format_value(grad, room), "gradient" if grad is not None else "dim")
        yield line(Span(".grad".ljust(LABEL), "leaf"), shows)


def _moments(cursor: StepCursor, one: Breakpoint) -> Line:
    """`operation 2, steps 1, 5 (now), 6, 8, …   12 in all`: the moments around the current one; … for others."""
    if not one.is_known:
        return line(Span("evaluating ...", "dim"))
    if not one.moments:
        return line(Span("nowhere in this pass", "dim"))
    at, here = bisect_left(one.moments, cursor.position), bisect_right(one.moments, cursor.position)
    first, last = max(at - BEFORE, 0), min(here + AFTER, len(one.moments))
    near, start = one.moments[first:last], len(cursor.timeline.forward)
    pieces = [line(Span("…", "dim"))] if first else []
    for kind, numbers in (
        ("operation", [(moment, moment) for moment in near if moment <= start]),
        ("step", [(moment, moment - start) for moment in near if moment > start]),
    ):
        for i, (moment, number) in enumerate(numbers):
            name = "" if i else f"{kind} " if len(numbers) == 1 else f"{kind}s "
            is_now = moment == cursor.position
            role: Role = "good" if is_now else "dim" if moment < cursor.position else ""
            pieces.append(line(Span(name, "label"), Span(f"{number}{' (now)' if is_now else ''}", role)))
    pieces += [line("…")] if last < len(one.moments) else []
    count = f"   {len(one.moments):,} in all" if len(near) < len(one.moments) else ""
    separated = (span for piece in pieces for span in (Span(", "), *piece))
    return line(*list(separated)[1:], Span(count, "dim"))
