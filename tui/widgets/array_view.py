"""The array viewer: every number of a value or gradient, coloured by sign and magnitude, one slice at a time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.style import Style as TextualStyle
from textual.widgets import Static

from microtape.recording.model.formula import index_text
from microtape.recording.model.model import Summary, Value
from microtape.recording.model.summary import summarize
from microtape.recording.model.thumbnail import block_starts
from tui.shell.clipboard import copy
from tui.time.arrays import about_lines, bad_places, exact_text
from tui.widgets.dialog import Dialog, keys_below
from tui.widgets.lines.role_styles import content
from tui.widgets.number_grid import Grid, Labels, legend

AROUND = 9  # lines of the page around the numbers
MEANS = "A cell is the mean of a block; the labels are its first row and column."
STACKED = "The rows of all slices are counted on."


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
        Binding("n", "next_bad(1)", show=False),
        Binding("N", "next_bad(-1)", show=False),
        Binding("m", "numbers", show=False),
        Binding("tab", "turn(1)", show=False),
        Binding("shift+tab", "turn(-1)", show=False),
        Binding("enter", "explain", show=False),
        Binding("y", "copy(False)", show=False),
        Binding("Y", "copy(True)", show=False),
    ]

    def __init__(
        self, arrays: Sequence[tuple[str, Value]], *, start: tuple[int, tuple[int, ...]] = (0, ()),
        explains: bool = False, ascii: bool = False,
    ) -> None:  # fmt: skip
        """`start` is the array to begin with, and the index of its chosen element; empty for the first."""
        super().__init__()
        self._explains = explains  # whether somebody explains the element with which this closes
        self._arrays = arrays
        self._which, self._start = start
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
        self._turn_to(self._which, self._start)
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

    def action_next_bad(self, by: int) -> None:
        """Choose the next or the previous element that is NaN or infinite, wrapping at the ends."""
        name, value = self._arrays[self._which]
        places = bad_places(value)
        if isinstance(value, Summary) or not places.size:
            few = "was not kept whole" if isinstance(value, Summary) else "has no NaN and no Inf"
            self.notify(f"{name} {few}.", timeout=3, markup=False)
            return
        here = int(np.ravel_multi_index(self._index, value.shape)) if self._index else 0
        at = np.searchsorted(places, here, "right") if by > 0 else np.searchsorted(places, here) - 1
        self._index = [int(i) for i in np.unravel_index(places[at % places.size], value.shape)]
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

    def _turn_to(self, which: int, index: tuple[int, ...] = ()) -> None:
        self._which = which
        self._index = list(index) or [0] * len(self._arrays[which][1].shape)
        self._show()

    def _show(self) -> None:
        _, value = self._arrays[self._which]
        about = value if isinstance(value, Summary) else summarize(value)
        self.query_one(Vertical).border_subtitle = keys_below(*self._keys(about))
        self.query_one("#which", Static).update(Content.assemble(*self._names()))
        self.query_one("#about", Static).update(
            Content("\n").join(content(one, ascii=self._ascii) for one in about_lines(about, value, ascii=self._ascii))
        )
        matrix, labels = _table(value) if isinstance(value, Summary) else (as_matrix(value, self._index), None)
        finite = np.abs(matrix[np.isfinite(matrix)]) if matrix.dtype.kind in "fc" else np.abs(matrix.astype(float))
        largest = max((abs(x) for x in (about.min, about.max) if x is not None), default=0.0)
        scale = largest if largest else float(finite.max(initial=0.0))
        at = (self._index[-2] if len(self._index) > 1 else 0, self._index[-1] if self._index else 0)
        grid, here = self.query_one(Grid), self.query_one("#here", Static)
        grid.styles.height = min(matrix.shape[0] + 2, max(int(0.92 * self.app.size.height) - AROUND, 4))
        grid.show(
            matrix,
            at if not isinstance(value, Summary) else (-1, -1),
            scale,
            numbers=self._numbers,
            labels=labels,
        )
        coloured, has_bad = not (self.app.no_color or self.app.native_ansi_color), about.nans + about.infs > 0
        key = "" if self._numbers else legend(scale, coloured=coloured, has_bad=has_bad)
        here.update(Content.assemble(self._here(), ("\n" + key if key else "", "$text-muted")))

    def _keys(self, about: Summary) -> Iterator[tuple[str, str]]:
        """The keys of the lower border: those that do something here."""
        what = "next NaN" if not about.infs else "NaN/Inf" if about.nans else "next Inf"
        whole = not isinstance(self._arrays[self._which][1], Summary)
        has_bad = whole and about.nans + about.infs > 0
        if not has_bad:
            yield "", "arrows move"  # else there is no room at 80 columns
        if len(about.shape) > 2 and whole:
            yield from (("pageup", "PgUp"), ("pagedown", "PgDn slice"))
        if has_bad:
            yield "n", f"n {what}"
        yield "m", "m map"
        if len(self._arrays) > 1:
            yield "tab", "Tab next"
        yield "y", "y copy"
        if self._is_explained:
            yield "enter", "Enter why"
        yield "escape", "Esc"

    def _names(self) -> Iterator[Content | tuple[str, str]]:
        """The names of the arrays, and which slice of the chosen one is shown."""
        for i, (one, _) in enumerate(self._arrays):
            name = Content.styled(f" {one} ", "bold $text-accent" if i == self._which else "")
            yield name.stylize(TextualStyle.from_meta({"@click": f"screen.turn_to({i})"}))
        leading = self._arrays[self._which][1].shape[:-2]
        if leading and 0 not in leading:
            where = ", ".join(map(str, self._index[:-2]))
            number = int(np.ravel_multi_index(self._index[:-2], leading)) + 1
            yield f"   slice [{where}, :, :], {number} of {math.prod(leading)}", "$text-muted"

    def _here(self) -> Content:
        """The chosen number with all its digits, and which NaN or Inf it is; of a summary, what its cells are."""
        name, value = self._arrays[self._which]
        if isinstance(value, Summary):
            stacked = f" {STACKED}" if len(value.shape) > 2 else ""
            return Content.styled(MEANS + stacked, "$text-muted")
        if not value.size:
            return Content.styled("empty", "bold")
        index = tuple(self._index)
        exact = f"{name}[{', '.join(map(str, index))}] = {value[index].item()!r}"
        places = bad_places(value)
        number = np.searchsorted(places, np.ravel_multi_index(index, value.shape) if index else 0)
        is_bad = places.size and not np.isfinite(value[index])
        which = f"   {number + 1:,} of {places.size:,} that are not finite" if is_bad else ""
        return Content.assemble((exact, "bold"), (which, "$text-muted"))


def _table(about: Summary) -> tuple[npt.NDArray[Any], tuple[Labels, Labels] | None]:
    """The means of a summary, and the first row and column of each of its blocks."""
    matrix = np.array([[math.nan if x is None else x for x in row] for row in about.thumbnail], float)
    if matrix.ndim != 2:
        return np.zeros((0, 0)), None
    width = about.shape[-1] if about.shape else 1
    rows, columns = block_starts(math.prod(about.shape[:-1]), 0)[0], block_starts(width, 1)[0]
    return matrix, (rows, columns) if matrix.shape == (len(rows), len(columns)) else None  # a file may say anything


def as_matrix(value: npt.NDArray[Any], index: Sequence[int]) -> npt.NDArray[Any]:
    """The slice of the last two axes that contains an index."""
    if value.ndim < 2:
        return value.reshape(1, -1)
    matrix: npt.NDArray[Any] = value[tuple(index[:-2])]
    return matrix
