"""Text with roles instead of colours: the panes colour it, the trace prints it without colours.

A `Line` is a tuple of spans, and a span's role says what its text means. The widget that shows a span chooses the
colour of its role, which depends on the theme.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Literal, NamedTuple, TypeAlias

from viz.basics.characters import to_ascii, visible

LONGEST = 20_000  # characters of one line of text; a longer one is cut

Role: TypeAlias = Literal[
    "", "label", "dim", "strong", "op", "leaf", "name", "value", "gradient", "good", "warn", "bad"
]


class Span(NamedTuple):
    """A piece of text and its role."""

    text: str
    role: Role = ""


Line: TypeAlias = tuple[Span, ...]


def line(*pieces: Span | str) -> Line:
    """A line of spans and plain strings, without the empty ones."""
    return tuple([span for piece in pieces if (span := Span(piece) if isinstance(piece, str) else piece)[0]])


def plain(spans: Line, *, ascii: bool = False) -> str:
    """The text of a line, safe to print."""
    return shown("".join([text for text, _ in spans]), ascii=ascii)


def shown(text: str, *, ascii: bool = False) -> str:
    """Text from the user or a file, safe for a terminal: control characters are written out."""
    safe = text if text.isprintable() else visible(text, LONGEST)
    return to_ascii(safe) if ascii else safe


def wrapped(text: str, width: int, indent: str = "", hanging: str = "") -> list[str]:
    """The text in lines of at most `width` characters; `indent` begins the first line, `hanging` the others.

    Lines are broken only at spaces: a longer word gets a line of its own.
    """
    text = text.rstrip()
    if len(indent) + len(text) <= width:  # the usual case; textwrap takes ten times as long
        return [indent + text] if text else []
    start = len(text) - len(text.lstrip())
    return textwrap.wrap(
        text[start:], width, initial_indent=indent + text[:start], subsequent_indent=hanging,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def sentence_list(items: Iterable[Line], limit: int = 3) -> Line:
    """`a, b and c`; items beyond the limit are only counted: `a, b and 7 others`."""
    every = list(items)
    shown = every if len(every) <= limit else [*every[: limit - 1], line(f"{len(every) - limit + 1} others")]
    found: list[Span] = []
    for i, item in enumerate(shown):
        found += [Span("" if i == 0 else " and " if i == len(shown) - 1 else ", "), *item]
    return line(*found)
