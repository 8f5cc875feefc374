"""Text with meaning but without looks: the panes colour it, the trace prints it as it is.

A `Line` is a tuple of spans, and a span's role says what its text *is*. What a role looks like is decided by whoever
shows it, once for every theme.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

from viz.characters import to_ascii, visible

LONGEST = 20_000  # characters of one line of text; a longer one is cut

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


def plain(spans: Line, *, ascii: bool = False) -> str:
    """The line's text alone, fit to be shown."""
    return shown("".join(span.text for span in spans), ascii=ascii)


def shown(text: str, *, ascii: bool = False) -> str:
    """Text of the user's or of a file's, fit for a terminal: what would control it is written out instead."""
    safe = text if text.isprintable() else visible(text, LONGEST)
    return to_ascii(safe) if ascii else safe


def sentence_list(items: Iterable[Line], limit: int = 3) -> Line:
    """`a, b and c`; beyond the limit the rest is counted: `a, b and 7 others`."""
    every = list(items)
    shown = every if len(every) <= limit else [*every[: limit - 1], line(f"{len(every) - limit + 1} others")]
    found: list[Span] = []
    for i, item in enumerate(shown):
        found += [Span("" if i == 0 else " and " if i == len(shown) - 1 else ", "), *item]
    return line(*found)
