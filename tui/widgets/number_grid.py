"""A matrix as a table of numbers, or as a map of colours; it draws only what is in view."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.events import Click, Resize
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from microtape.recording.model.formatting import format_number

NEGATIVE, POSITIVE, NOT_FINITE = (70, 130, 220), (220, 90, 60), (200, 60, 200)
NUMBER, MARK = 10, 2  # characters of a cell: of the table, of the map
EVERY = 5  # columns of the map from one label to the next

Labels = Sequence[int]


class Grid(ScrollView, can_focus=True, inherit_bindings=False):
    """A matrix of numbers with a chosen cell. It draws only the visible lines, so the matrix may have any size.

    Of the columns, it draws those that have room: half a number would read as another one.
    """

    DEFAULT_CSS = "Grid { height: 4; scrollbar-size: 1 1; }"

    def __init__(self) -> None:
        super().__init__()
        self.matrix: npt.NDArray[Any] = np.zeros((0, 0))
        self.at = (0, 0)
        self.largest = 0.0
        self.numbers = True
        self.labels: tuple[Labels, Labels] = (range(0), range(0))

    def show(
        self,
        matrix: npt.NDArray[Any],
        at: tuple[int, int],
        largest: float,
        *,
        numbers: bool,
        labels: tuple[Labels, Labels] | None = None,
    ) -> None:
        """Draw this matrix with its chosen cell; the magnitude `largest` gets the strongest colour.

        `labels` are those of the rows and of the columns; without them, each shows its index.
        """
        self.matrix, self.at, self.largest, self.numbers = matrix, at, largest, numbers
        rows, columns = matrix.shape
        self.labels = (range(rows), range(columns)) if labels is None else labels
        self.virtual_size = Size(self.gutter_width + columns * self.cell_width, rows + 1)
        self._scroll_to_cell()
        self.refresh()

    def on_resize(self, event: Resize) -> None:
        """Keep the chosen cell in view."""
        self._scroll_to_cell()

    def _scroll_to_cell(self) -> None:
        if not self.size:
            return  # it is not laid out yet
        (row, column), top, page = self.at, self.scroll_offset.y, max(self.scrollable_size.height - 1, 1)
        first, many = self._columns_in_view()
        y = top if top <= row < top + page else max(row - page // 2, 0)
        x = first if first <= column < first + many else max(column - many // 2, 0)
        self.scroll_to(x * self.cell_width, y, animate=False, force=True)

    def _columns_in_view(self) -> tuple[int, int]:
        """The first column that is drawn, and how many have room.

        Rounded up, so that the last column is drawn where the user has scrolled as far as possible.
        """
        width = self.cell_width
        return -(-self.scroll_offset.x // width), max((self.scrollable_size.width - self.gutter_width) // width, 1)

    @dataclass
    class Chosen(Message):
        """A cell was clicked."""

        row: int
        column: int

    def on_click(self, event: Click) -> None:
        """Choose the cell under the mouse."""
        first, many = self._columns_in_view()
        row = event.y - 1 + self.scroll_offset.y
        column = first + min((event.x - self.gutter_width) // self.cell_width, many - 1)
        if event.y > 0 and event.x >= self.gutter_width and row < self.matrix.shape[0]:
            self.post_message(self.Chosen(row, min(column, self.matrix.shape[1] - 1)))

    @property
    def cell_width(self) -> int:
        """The width of a cell, in characters."""
        return NUMBER if self.numbers else MARK

    @property
    def gutter_width(self) -> int:
        """The width of the row labels, in characters."""
        rows = self.labels[0]
        return len(str(rows[-1] if rows else 0)) + 1

    def render_line(self, y: int) -> Strip:
        """The line of column labels, or a row."""
        ground = self.rich_style
        rows, columns = self.matrix.shape
        row = y - 1 + self.scroll_offset.y
        first, many = self._columns_in_view()
        dim = ground + Style(dim=True)
        if row >= rows:
            return Strip.blank(self.size.width, ground)
        gutter = self.gutter_width
        if y == 0:
            return Strip([Segment(" " * gutter + self._heading(first, many), dim)]).crop_extend(
                0, self.size.width, ground
            )
        segments = [Segment(f"{self.labels[0][row]:>{gutter - 1}} ", dim)]
        room = max(min(self.cell_width, self.scrollable_size.width - gutter), 2)  # of a number
        for column in range(first, min(first + many, columns)):
            x = self.matrix[row, column].item()
            text = f"{short(x, room - 1):>{room - 1}} " if self.numbers else self._mark(x)
            segments.append(Segment(text, ground + self._style(x, (row, column) == self.at)))
        return Strip(segments).crop_extend(0, self.size.width, ground)

    def _heading(self, first: int, many: int) -> str:
        """The labels of the columns: above the last digit of each number; in the map, that of every fifth column."""
        labels = self.labels[1]
        shown = range(first, min(first + many, len(labels)))
        if self.numbers:
            return "".join(f"{labels[column]:>{NUMBER - 1}} " for column in shown)
        text = ""
        for column in shown:
            label, at = str(labels[column]), MARK * (column - first)
            if column % EVERY == 0 and at + len(label) <= MARK * many:
                text = text.ljust(at) + label
        return text

    def _mark(self, x: Any) -> str:
        """The text of a cell in the map: for numbers that are not finite, and in terminals without colours."""
        if not math.isfinite(abs(x)):
            return "!!"
        return _shade(x, self.largest) if self.app.no_color or self.app.native_ansi_color else "  "

    def _style(self, x: Any, chosen: bool) -> Style:
        if chosen:
            return Style(reverse=True, bold=True)
        if self.app.native_ansi_color:
            return _heat_of_sixteen(x, self.largest, dark=self.app.current_theme.dark)
        return heat(x, self.largest, self.background_colors[1].rgb)


def short(x: Any, width: int) -> str:
    """The number with as many digits as fit, at most four; `…` if not even one digit fits."""
    texts = (format_number(x, digits) for digits in (4, 3, 2, 1))
    return next((text for text in texts if len(text) <= width), "…"[:width])


def _shade(x: Any, largest: float) -> str:
    """The number in two characters: its sign and its magnitude in tenths of the largest, `+9`; a dot for zero."""
    if not x:
        return " ."
    size = min(int(10 * abs(x) / largest), 9) if largest else 0
    return f"{'+' if isinstance(x, complex) or x > 0 else '-'}{size}"


def heat(x: Any, largest: float, ground: tuple[int, int, int]) -> Style:
    """Blue for negative numbers, red for positive ones, stronger for larger magnitudes; NaN and Inf are purple."""
    size = abs(x)
    if not math.isfinite(size):
        return Style(bgcolor=Color.from_rgb(*NOT_FINITE), bold=True)
    share = 0.75 * min(size / largest, 1.0) ** 0.5 if largest else 0.0
    hue = POSITIVE if isinstance(x, complex) or x > 0 else NEGATIVE
    return Style(bgcolor=Color.from_rgb(*(round(a + (b - a) * share) for a, b in zip(ground, hue, strict=True))))


def _heat_of_sixteen(x: Any, largest: float, *, dark: bool) -> Style:
    """`heat` in the terminal's sixteen colours, which cannot be mixed: coloured digits, bold above `largest` / 2."""
    size = abs(x)
    if not math.isfinite(size):
        return Style(color="magenta", bold=True, reverse=True)
    if not size:
        return Style()
    hue = "red" if isinstance(x, complex) or x > 0 else "blue"
    return Style(color=f"bright_{hue}" if dark else hue, bold=bool(largest) and 2 * size > largest)


def legend(largest: float, *, coloured: bool, has_bad: bool) -> str:
    """What the colours of the map mean, or its signs where there are no colours."""
    most, bad = format_number(largest, 3), "   !! NaN or Inf" if has_bad else ""
    if coloured:
        return f"blue negative, red positive, strongest at {most}{bad}"
    return f"+ - sign, 0 to 9 tenths of {most}, . zero{bad}"
