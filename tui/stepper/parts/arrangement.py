"""The arrangement of the screen: the tape, the graph or both, and the room for each."""

from __future__ import annotations

from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Static

from tui.stepper.parts.key_declarations import key
from tui.stepper.parts.part import Part, Stepper
from tui.widgets.beside_line import BesideLine
from tui.widgets.box_view import BoxView
from tui.widgets.finding_line import FindingLine
from tui.widgets.panes import LeavesPane
from tui.widgets.tape import HEADER, TapeView

SMALLEST = (60, 18)  # columns and lines of a terminal
WIDE = 116  # columns: in a terminal at least this wide, the panes are beside the tape
HIGH = (
    36  # lines: a terminal at least this high shows all panes, a lower one the chosen pane, and the source if it fits
)
TAPE_AT_LEAST, PANES_AT_LEAST = 80, 50  # columns, when they are side by side
GRAPH_AT_LEAST = 10  # lines: most of two boxes, and the line between them
SHARE = 0.64  # of the height: the tape above the graph, at most, if both do not fit
BARS, SENTENCE, FRAME = 3, 5, 2  # lines: of the bars above and below, of the sentence, of a frame
WRAPPED = 2  # lines more than leaves, for those whose line is too long
BESIDE = 96  # columns: two panes are side by side below the tape
STACKED = {"framed": 18, "plain": 14}  # lines: two panes are one above the other
VIEWS = ("tape", "boxes", "both")


class Arrangement(Part[Stepper]):
    """The views that are shown: those that the user chose, else those that fit the terminal."""

    def __init__(self, stepper: Stepper) -> None:
        super().__init__(stepper)
        self.view = VIEWS[0]
        self.chosen: str | None = None  # by the user, in this session or an earlier one
        self._size: Size | None = None  # of the terminal

    @property
    def main(self) -> Widget:
        """The view that has the focus if no pane has it."""
        return self.stepper.query_one("#boxes" if self.view == "boxes" else "#tape")

    @key("v", "tape, boxes, both", help="show the tape, the graph as boxes, or both")
    def turn_view(self) -> None:
        """Show the tape, the graph as boxes, or both."""
        self.choose(VIEWS[(VIEWS.index(self.view) + 1) % len(VIEWS)])
        self.main.focus()

    def choose(self, view: str) -> None:
        """Show a view because the user chose it, whatever the size of the terminal."""
        self.chosen = view
        self.show(view)
        self.fit_again()

    def show(self, view: str) -> None:
        """Show a view: set its class, to which the style sheet responds."""
        self.view = view
        for name in VIEWS:
            self.stepper.set_class(name == view, f"-view-{name}")

    def fit_again(self) -> None:
        """Divide the terminal among the views anew."""
        if self._size is not None:
            self.fit(self._size)

    def fit(self, size: Size) -> None:
        """Divide a terminal of that size among the views. If it is too small, show only a message."""
        too_small = size.width < SMALLEST[0] or size.height < SMALLEST[1]
        self.stepper.set_class(too_small, "-too-small")
        self.stepper.query_one("#too-small", Static).update(
            f"This terminal has {size.width}×{size.height} characters.\n"
            f"The stepper needs {SMALLEST[0]}×{SMALLEST[1]}.\n\nMake the terminal larger; nothing is lost. q quits."
        )
        self._size, cursor = size, self.cursor
        wide, high = size.width >= WIDE, size.height >= HIGH
        frame = FRAME if wide or high else 0
        found = self.stepper.query_one(FindingLine)
        found.fit(size)
        bars = BARS + found.height_at(size)
        main = size.height - bars - (SENTENCE if frame else SENTENCE - 1)  # without a frame, the sentence has no line
        tape, boxes = self.stepper.query_one(TapeView), self.stepper.query_one(BoxView)
        tape_needs, graph_needs = tape.row_count + HEADER + frame, boxes.wanted_height(cursor) + frame
        below = self.stepper.query_one(BesideLine).lines  # the tape
        room = (main if wide else main * 2 // 5 if high else main // 2) - below
        if self.chosen is None:
            self.show("both" if room - tape_needs >= min(graph_needs, GRAPH_AT_LEAST) else "tape")
        needs = {"tape": tape_needs, "boxes": graph_needs, "both": tape_needs + graph_needs}[self.view]
        used = min(room, needs) + below
        self.stepper.query_one("#left").styles.height = "1fr" if wide else used
        least = min(graph_needs, GRAPH_AT_LEAST) if self.chosen is None else graph_needs
        tape.styles.max_height = max(int(SHARE * room), room - least) if self.view == "both" else None
        self._show_two_panes(size, main if wide else main - used, frame)
        leaves = len(cursor.timeline.collectors)
        self.stepper.query_one(LeavesPane).styles.max_height = leaves + FRAME + WRAPPED
        self.fit_width(size.width)

    def _show_two_panes(self, size: Size, room: int, frame: int) -> None:
        """In a low terminal, show a second pane if there is room for it, so that the source stays in view."""
        low = size.height < HIGH
        beside = low and BESIDE <= size.width < WIDE
        stacked = low and not beside and room >= STACKED["framed" if frame else "plain"]
        self.stepper.set_class(beside, "-beside")
        self.stepper.set_class(stacked, "-stacked")

    def fit_width(self, width: int) -> None:
        """On a wide screen, give the tape the width that its texts need; the panes need less than the rest."""
        wanted = min(self.stepper.query_one(TapeView).wanted_width(width), width - PANES_AT_LEAST)
        left = self.stepper.query_one("#left")
        left.styles.min_width = max(TAPE_AT_LEAST, wanted) if width >= WIDE else 0
