"""Text with meaning but without looks: the panes colour it, the trace prints it as it is.

A `Line` is a tuple of spans, and a span's role says what its text *is*. What a role looks like is decided by whoever
shows it, once for every theme.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

Role: TypeAlias = Literal["", "label", "dim", "strong", "op", "leaf", "name", "value", "gradient", "good", "bad"]


class Span(NamedTuple):
    """A piece of text and what it is."""

    text: str
    role: Role = ""


Line: TypeAlias = tuple[Span, ...]


def line(*pieces: Span | str) -> Line:
    """A line of spans and plain strings; empty ones are left out."""
    spans = (Span(piece) if isinstance(piece, str) else piece for piece in pieces)
    return tuple(span for span in spans if span.text)


def plain(spans: Line) -> str:
    """The line's text alone."""
    return "".join(span.text for span in spans)


def sentence_list(items: Iterable[Line], limit: int = 3) -> Line:
    """`a, b and c`; beyond the limit the rest is counted: `a, b and 7 others`."""
    every = list(items)
    shown = every if len(every) <= limit else [*every[: limit - 1], line(f"{len(every) - limit + 1} others")]
    found: list[Span] = []
    for i, item in enumerate(shown):
        found += [Span("" if i == 0 else " and " if i == len(shown) - 1 else ", "), *item]
    return line(*found)
