"""The array viewer: every number of a value or gradient, coloured by sign and magnitude, one slice at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style as TextualStyle
from textual.widgets import Static

from microtape.recording.model.formatting import format_number
from microtape.recording.model.formula import index_text
from microtape.recording.model.model import Summary, Value
from microtape.recording.model.summary import summarize
from tui.shell.clipboard import copy
from tui.time.arrays import about_lines, exact_text
from tui.widgets.dialog import Dialog, keys_below
from tui.widgets.lines.role_styles import content

AROUND = 9  # lines of the page around the numbers
NEGATIVE, POSITIVE, NOT_FINITE = (70, 130, 220), (220, 90, 60), (200, 60, 200)


class Grid(ScrollView, can_focus=True, inherit_bindings=False):
    """A matrix of numbers with a chosen cell. It draws only the visible lines, so the matrix may have any size."""

    DEFAULT_CSS = "Grid { height: 4; scrollbar-size: 1 1; }"

    def __init__(self) -> None:
        super().__init__()
        self.matrix: npt.NDArray[Any] = np.zeros((0, 0))
        self.at = (0, 0)
        self.largest = 0.0
        self.numbers = True

    def show(self, matrix: npt.NDArray[Any], at: tuple[int, int], largest: float, *, numbers: bool) -> None:
        """Draw this matrix with its chosen cell; the magnitude `largest` gets the strongest colour."""
        self.matrix, self.at, self.largest, self.numbers = matrix, at, largest, numbers
        rows, columns = matrix.shape
        self.virtual_size = Size(self.gutter_width + columns * self.cell_width, rows + 1)
        (row, column), top, page = at, self.scroll_offset.y, max(self.size.height - 1, 1)
        first, many = (
            self.scroll_offset.x // self.cell_width,
            max(self.size.width - self.gutter_width, 1) // self.cell_width,
        )
        y = top if top <= row < top + page else max(row - page // 2, 0)
        x = first if first <= column < first + many else max(column - many // 2, 0)
        self.scroll_to(x * self.cell_width, y, animate=False, force=True)
        self.refresh()

    @dataclass
    class Chosen(Message):
        """A cell was clicked."""

        row: int
        column: int

    def on_click(self, event: Click) -> None:
        """Choose the cell under the mouse."""
        row = event.y - 1 + self.scroll_offset.y
        column = (event.x - self.gutter_width) // self.cell_width + self.scroll_offset.x // self.cell_width
        if event.y > 0 and event.x >= self.gutter_width and row < self.matrix.shape[0]:
            self.post_message(self.Chosen(row, min(column, self.matrix.shape[1] - 1)))

    @property
    def cell_width(self) -> int:
        """The width of a cell, in characters."""
        return 10 if self.numbers else 2

    @property
    def gutter_width(self) -> int:
        """The width of the row numbers, in characters."""
        return len(str(max(self.matrix.shape[0] - 1, 0))) + 1

    def render_line(self, y: int) -> Strip:
        """The line of column numbers, or a row."""
        ground = self.rich_style
        width, left = self.cell_width, self.scroll_offset.x
        rows, columns = self.matrix.shape
        row = y - 1 + self.scroll_offset.y
        first, many = left // width, self.size.width // width + 2
        dim = ground + Style(dim=True)
        if row >= rows:
            return Strip.blank(self.size.width, ground)
        segments = [Segment(" " * self.gutter_width if y == 0 else f"{row:>{self.gutter_width - 1}} ", dim)]
        for column in range(first, min(first + many, columns)):
            if y == 0:
                text = str(column).rjust(width - 1) + " " if self.numbers or column % 5 == 0 else " " * width
                segments.append(Segment(text[-width:], dim))
                continue
            x = self.matrix[row, column].item()
            text = f"{short(x, width - 1):>{width - 1}} " if self.numbers else self._mark(x)
            segments.append(Segment(text, ground + self._style(x, (row, column) == self.at)))
        return Strip(segments).crop_extend(0, self.size.width, ground)

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


class ArrayScreen(Dialog[tuple[int, ...] | None]):
    """Shows the arrays of a moment, one at a time. Closes with the index of the element to explain, or None."""

    DEFAULT_CSS = """
    ArrayScreen { align: center middle; }
    ArrayScreen > Vertical {
        width: 96%; height: auto; max-height: 92%; border: round $accent; background: $surface; padding: 0 1;
    }
    ArrayScreen #about, ArrayScreen #here { height: auto; }
    ArrayScreen #which { height: 1; color: $text-muted; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,a", "close", "close"),
        Binding("left,h", "walk(-1, -1)", show=False),
        Binding("right,l", "walk(-1, 1)", show=False),
        Binding("up,k", "walk(-2, -1)", show=False),
        Binding("down,j", "walk(-2, 1)", show=False),
        Binding("pageup", "slice(-1)", show=False),
        Binding("pagedown", "slice(1)", show=False),
        Binding("m", "numbers", show=False),
        Binding("tab", "turn(1)", show=False),
        Binding("shift+tab", "turn(-1)", show=False),
        Binding("enter", "explain", show=False),
        Binding("y", "copy(False)", show=False),
        Binding("Y", "copy(True)", show=False),
    ]

    def __init__(
        self, arrays: Sequence[tuple[str, Value]], *, start: int = 0, explains: bool = False, ascii: bool = False
    ) -> None:
        super().__init__()
        self._explains = explains  # whether somebody explains the element with which this closes
        self._arrays = arrays
        self._which = start
        self._ascii = ascii
        self._numbers = True
        self._index: list[int] = []

    def compose(self) -> ComposeResult:
        """The names of the arrays, a summary, the numbers, and the chosen number in full."""
        with Vertical() as box:
            box.border_title = "array"
            names = Static(id="which")
            names.auto_links = False  # they look like tabs
            yield names
            yield Static(id="about")
            yield Grid()
            yield Static(id="here")

    def on_mount(self) -> None:
        """Show the first array."""
        self._turn_to(self._which)
        self.query_one(Grid).focus()

    def action_turn(self, by: int) -> None:
        """Show another array."""
        self._turn_to((self._which + by) % len(self._arrays))

    def action_numbers(self) -> None:
        """Switch between numbers and a map of colours."""
        self._numbers = not self._numbers
        self._show()

    def action_walk(self, axis: int, by: int) -> None:
        """Choose another element, along the last axis (-1) or the one before (-2)."""
        value = self._arrays[self._which][1]
        if -axis <= len(self._index) and value.shape[axis]:
            self._index[axis] = min(max(self._index[axis] + by, 0), value.shape[axis] - 1)
            self._show()

    def action_slice(self, by: int) -> None:
        """Show the next or previous slice along the leading axes."""
        leading = self._arrays[self._which][1].shape[:-2]
        if leading and 0 not in leading:
            flat = int(np.ravel_multi_index(self._index[:-2], leading)) + by
            flat = min(max(flat, 0), math.prod(leading) - 1)
            self._index[:-2] = [int(i) for i in np.unravel_index(flat, leading)]
            self._show()

    def on_grid_chosen(self, message: Grid.Chosen) -> None:
        """Choose the element that was clicked."""
        if self._index and not isinstance(self._arrays[self._which][1], Summary):
            self._index[-2:] = [message.row, message.column][-min(len(self._index), 2) :]
            self._show()

    def action_turn_to(self, which: int) -> None:
        """Show the array whose name was clicked."""
        self._turn_to(which)

    def action_explain(self) -> None:
        """Close, and explain this element of the gradient; of another array, say that there is nothing to explain."""
        if self._is_explained:
            self.dismiss(tuple(self._index))
        elif self._explains:
            self.notify(f"Only a gradient that was kept whole is explained, not {self._arrays[self._which][0]}.")

    @property
    def _is_explained(self) -> bool:
        """Whether the array on the screen is the gradient, of which each element has an explanation."""
        name, value = self._arrays[self._which]
        is_whole = not isinstance(value, Summary) and value.size > 0
        return self._explains and not self._which and name.startswith("gradient") and is_whole

    def action_copy(self, whole: bool) -> None:
        """Copy the chosen element with all its digits, or the whole array."""
        name, value = self._arrays[self._which]
        if whole or isinstance(value, Summary) or not value.size:
            self.notify(copy(self.app, exact_text(value), name), markup=False)
        else:
            index = tuple(self._index)
            self.notify(copy(self.app, repr(value[index].item()), name + index_text(index)), markup=False)

    def action_close(self) -> None:
        """Close without explaining an element."""
        self.dismiss(None)

    def _turn_to(self, which: int) -> None:
        self._which = which
        self._index = [0] * len(self._arrays[which][1].shape)
        self._show()

    def _show(self) -> None:
        name, value = self._arrays[self._which]
        why = [("enter", "Enter why")] if self._is_explained else []
        self.query_one(Vertical).border_subtitle = keys_below(
            ("", "arrows move"), ("pageup", "PgUp"), ("pagedown", "PgDn slice"), ("m", "m map"),
            ("tab", "Tab next"), ("y", "y copy"), *why, ("escape", "Esc"),
        )  # fmt: skip
        names: list[Content | tuple[str, str]] = [
            Content.styled(f" {one} ", "bold $text-accent" if i == self._which else "").stylize(
                TextualStyle.from_meta({"@click": f"screen.turn_to({i})"})
            )
            for i, (one, _) in enumerate(self._arrays)
        ]
        leading = value.shape[:-2]
        if leading and 0 not in leading:
            where = ", ".join(map(str, self._index[:-2]))
            number = int(np.ravel_multi_index(self._index[:-2], leading)) + 1
            names.append((f"   slice [{where}, :, :], {number} of {math.prod(leading)}", "$text-muted"))
        self.query_one("#which", Static).update(Content.assemble(*names))
        about = value if isinstance(value, Summary) else summarize(value)
        self.query_one("#about", Static).update(
            Content("\n").join(content(one, ascii=self._ascii) for one in about_lines(about, value, ascii=self._ascii))
        )
        grid, here = self.query_one(Grid), self.query_one("#here", Static)
        if isinstance(value, Summary):
            matrix = np.array([[math.nan if x is None else x for x in row] for row in value.thumbnail], float)
            matrix = matrix if matrix.ndim == 2 else np.zeros((0, 0))
            here.update(Content.styled("Each cell is the mean of a block of the array.", "$text-muted"))
        else:
            matrix = as_matrix(value, self._index)
            size = math.prod(value.shape)
            exact = (
                f"{name}[{', '.join(map(str, self._index))}] = {value[tuple(self._index)].item()!r}"
                if size
                else "empty"
            )
            here.update(Content.styled(exact, "bold"))
        finite = np.abs(matrix[np.isfinite(matrix)]) if matrix.dtype.kind in "fc" else np.abs(matrix.astype(float))
        largest = max((abs(x) for x in (about.min, about.max) if x is not None), default=0.0)
        scale = largest if largest else float(finite.max(initial=0.0))
        at = (self._index[-2] if len(self._index) > 1 else 0, self._index[-1] if self._index else 0)
        grid.styles.height = min(matrix.shape[0] + 2, max(int(0.92 * self.app.size.height) - AROUND, 4))
        grid.show(matrix, at if not isinstance(value, Summary) else (-1, -1), scale, numbers=self._numbers)


def as_matrix(value: npt.NDArray[Any], index: Sequence[int]) -> npt.NDArray[Any]:
    """The slice of the last two axes that contains an index."""
    if value.ndim < 2:
        return value.reshape(1, -1)
    matrix: npt.NDArray[Any] = value[tuple(index[:-2])]
    return matrix
