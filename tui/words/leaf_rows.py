"""The rows of the leaves pane: each leaf, its value and its `.grad` so far."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rich.cells import cell_len, set_cell_size

from microtape.recording.model.formatting import DIGITS, FEW, format_value
from microtape.recording.model.model import Value
from microtape.recording.model.summary import is_finite
from tui.shell.spans import Line, Role, Span, line
from tui.time.cursor import LeafStatus, StepCursor
from tui.time.row_texts import ELLIPSES, end_of_path, fit
from tui.words.sentence import LISTED

SHORT = 6  # characters: enough for a number
SHORTEST = 12  # characters: enough to describe nearly any array
SUMMED = 16  # characters: enough to describe any array, `-8.4e-11 ± 0.017`, because a sum must show its total
NAMED = 20  # characters of a name, at most, where the pane is narrow
BETWEEN = len(" =   .grad    complete")  # characters of a row that has a value, without its name and its numbers


class LeafRows:
    """A row for every leaf, and for other tensors whose gradient was asked for.

    `limit` shortens a long list, and names that are longer than the others have room for (None: neither).
    """

    def __init__(self, cursor: StepCursor, width: int, limit: int | None) -> None:
        self.cursor = cursor
        self.width = width
        self.limit = limit

    def lines(self) -> Iterator[Line]:
        """The rows, with names and values in columns."""
        tensors = self.cursor.timeline.collectors
        if not tensors:
            yield line(Span("No leaf requires a gradient.", "dim"))
        shown = tensors[: self.limit]
        names = self._names(shown)
        values = self._values(shown, max(map(cell_len, names), default=0))
        for tensor, name, value in zip(shown, names, values, strict=True):
            yield self._row(name, value, self.cursor.leaf(tensor))

    def _names(self, tensors: Sequence[int]) -> list[str]:
        """The names, equally wide."""
        names = [self.cursor.tensor_label(tensor) for tensor in tensors]
        longest = max(map(cell_len, names), default=0)
        if self.limit is None:
            return [set_cell_size(name, longest) for name in names]
        room = min(longest, max(self.width * 3 // 8, NAMED))
        return [fit(end_of_path(name, room, ELLIPSES[0]), room) for name in names]

    def _values(self, tensors: Sequence[int], names: int) -> list[str]:
        """The values of the leaves, equally long; empty if there is no room for them beside the gradients."""
        cursor, free = self.cursor, self.width - names - BETWEEN
        room = min(free // 2, free - SHORTEST, LISTED)
        known = [cursor.recording.value(cursor.timeline.leaf_ref.get(tensor)) for tensor in tensors]
        written = ["" if value is None else format_value(value, room) for value in known]
        texts = [f" = {text}" if text and not text.endswith(ELLIPSES[0]) else "" for text in written]
        longest = max(map(len, texts), default=0)
        return [text.ljust(longest) if room >= SHORT else "" for text in texts]

    def _row(self, name: str, own: str, status: LeafStatus) -> Line:
        pass_ = self.cursor.timeline.pass_
        returned = status.captured and pass_ is not None and pass_.kind == "grad"
        value = status.total if returned and status.state == "complete" else None if returned else status.grad
        terms = f"{status.expected} {'term' if status.expected == 1 else 'terms'}"
        words: dict[str, tuple[str, Role]] = {
            "no part": ("takes no part in this pass", "dim"),
            "none yet": (f"0 of {terms}", "dim"),
            "partial": (f"{status.arrived} of {terms}", ""),
            "waiting": (f"{'all ' if status.expected > 1 else ''}{terms}, not added yet", ""),
            "complete": ("complete", "good"),
        }
        state = Span(*words[status.state])
        kind = Span("  requested  " if returned else "  .grad  ", "dim")
        room = self.width - cell_len(name) - len(own + kind.text + state.text) - 2
        unfinished = status.state in ("partial", "waiting")
        shows = value_span(value, (room - 2) // 2 if unfinished else room)
        begin = line(Span(name, "leaf"), Span(own, "value"), kind, shows, "  ", state)
        if not unfinished:
            return begin
        left = room - len(shows.text) - 2
        return line(*begin, Span(": ", "dim"), value_span(status.total, left if left >= SHORTEST else SUMMED))


def value_span(
    value: Value | None, width: int, role: Role = "gradient", *, listed: bool = False, digits: int = DIGITS
) -> Span:
    """A value; with `listed`, few numbers are all listed, even if the line becomes longer than `width`."""
    if value is None:
        return Span("None" if role == "gradient" else "not kept", "dim")
    role = "bad" if not is_finite(value) else role
    least = LISTED if listed and math.prod(value.shape) <= FEW else SHORTEST
    text = format_value(value, max(width, least), digits=digits)
    return Span(text if text != ELLIPSES[0] else format_value(value, SUMMED), role)  # rather a second row than nothing
