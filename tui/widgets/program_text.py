"""The text of a program, highlighted and numbered, with the marks of a moment: for panes that show source."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from textual.content import Content
from textual.highlight import highlight

from microtape.recording.model.model import Place
from tui.widgets.lines.styled_text import StyledLine, TextSegment, joined, plain, restyled
from tui.widgets.tape_rows import ASCII_GLYPHS, GLYPHS

CURRENT = "bold on $accent-muted"
FAULT = "bold on $error-muted"


class ProgramText:
    """Draws the lines of programs. Highlighting a program takes long, so it is done once."""

    def __init__(self, *, ascii: bool = False) -> None:
        self._ascii = ascii
        self._programs: dict[
            str, tuple[list[StyledLine], list[StyledLine]]
        ] = {}  # by program text: highlighted lines, and the same lines with numbers

    def lines(
        self,
        code: str,
        place: Place | None,
        marks: Sequence[tuple[Place, str]],
        notes: Mapping[int, str],
        stops: Collection[int],
    ) -> list[StyledLine]:
        """All lines of a program.

        Args:
            code: the program.
            place: the current expression; an arrow stands before its lines.
            marks: expressions with their styles.
            notes: what is wrong at a line, to be written behind it.
            stops: the lines with a breakpoint.
        """
        coloured, numbered = self._program(code)
        marked, text = list(coloured), list(numbered)
        for one, style in marks:
            _mark(marked, one, style)
        special = set(stops).union(*(range(one.line, one.end_line + 1) for one, _ in marks))
        for number in special & set(range(1, len(text) + 1)):
            note = notes.get(number, "")
            text[number - 1] = self._numbered(number, marked[number - 1], len(text), place, note, number in stops)
        return text

    def _program(self, code: str) -> tuple[list[StyledLine], list[StyledLine]]:
        """A program's lines, highlighted; and the same lines with numbers, ready to show if they have no mark."""
        known = self._programs.get(code)
        if known is None:  # the text changes if the program is edited and recorded again
            coloured = _highlighted("\n".join(code.splitlines()))
            numbered = [self._numbered(i, line, len(coloured), None, "") for i, line in enumerate(coloured, 1)]
            known = self._programs[code] = coloured, numbered
        return known

    def _numbered(
        self, number: int, line: StyledLine, count: int, place: Place | None, note: str, stops: bool = False
    ) -> StyledLine:
        here = place is not None and place.line <= number <= place.end_line
        glyphs = ASCII_GLYPHS if self._ascii else GLYPHS
        glyph = glyphs["current" if here else "failed" if note else "none"]
        colour = "bold $text-error" if note else "bold $text-accent" if here else "$text-disabled"
        says = f"  {'<-' if self._ascii else '◀'} {note}" if note else ""
        stop = TextSegment(glyphs["stop"], "bold $text-success") if stops else TextSegment(" ")
        margin = TextSegment(f"{glyph}{number:>{len(str(count))}}", colour)
        return joined((margin, stop, *line, TextSegment(says, "bold $text-error")))


def _highlighted(code: str) -> list[StyledLine]:
    """The program's lines, highlighted."""
    rows = highlight(code, language="python").split("\n", allow_blank=True)
    return [joined(TextSegment(text, style) for text, style in _runs(row)) for row in rows]


def _runs(row: Content) -> Iterator[tuple[str, str]]:
    """The stretches of a line that have the same styles."""
    cuts = sorted({0, len(row), *(span.start for span in row.spans), *(span.end for span in row.spans)})
    for start, end in pairwise(cuts):
        styles = (str(span.style) for span in row.spans if span.start <= start and end <= span.end)
        yield row.plain[start:end], " ".join(styles)


def _mark(text: list[StyledLine], place: Place, style: str) -> None:
    """Mark the characters of a place, which may span several lines."""
    for number in range(place.line, min(place.end_line, len(text)) + 1):
        line = plain(text[number - 1])
        begin = place.column if number == place.line else len(line) - len(line.lstrip())
        end = place.end_column if number == place.end_line else len(line)
        text[number - 1] = restyled(text[number - 1], begin, end, style)
