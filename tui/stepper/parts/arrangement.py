"""The arrangement of the screen: the tape, the graph or both, and the room for each."""

from __future__ import annotations

from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Static

from tui.stepper.parts.key_declarations import key
from tui.stepper.parts.part import Part, Stepper
from tui.widgets.tape import TapeView

SMALLEST = (60, 18)  # columns and lines of a terminal
WIDE = 116  # columns: in a terminal at least this wide, the panes are beside the tape
TALL = 40  # lines: in a terminal at least this tall, the graph is shown too if the tape leaves room
TAPE_AT_LEAST, PANES_AT_LEAST = 80, 50  # columns, when they are side by side
SHARE = 0.64  # of the height: the tape above the graph, as in the style sheet
FRAME, BARS = 3, 8  # lines that the tape's frame takes, and those above and below the tape
VIEWS = ("tape", "boxes", "both")


class Arrangement(Part[Stepper]):
    """The views that are shown: those that the user chose, else those that fit the terminal."""

    def __init__(self, stepper: Stepper) -> None:
        super().__init__(stepper)
        self.view = VIEWS[0]
        self.chosen: str | None = None  # by the user, in this session or an earlier one

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

    def show(self, view: str) -> None:
        """Show a view: set its class, to which the style sheet responds."""
        self.view = view
        for name in VIEWS:
            self.stepper.set_class(name == view, f"-view-{name}")

    def fit(self, size: Size) -> None:
        """Divide a terminal of that size among the views. If it is too small, show only a message."""
        too_small = size.width < SMALLEST[0] or size.height < SMALLEST[1]
        self.stepper.set_class(too_small, "-too-small")
        self.stepper.query_one("#too-small", Static).update(
            f"This terminal has {size.width}×{size.height} characters.\n"
            f"The stepper needs {SMALLEST[0]}×{SMALLEST[1]}.\n\nMake the terminal larger; nothing is lost. q quits."
        )
        if self.chosen is None:
            rows = len(self.cursor.timeline.rows) + FRAME
            self.show("both" if size.height >= TALL and rows <= SHARE * (size.height - BARS) else "tape")
        self.fit_width(size.width)

    def fit_width(self, width: int) -> None:
        """On a wide screen, give the tape the width that its texts need; the panes need less than the rest."""
        wanted = min(self.stepper.query_one(TapeView).wanted_width(width), width - PANES_AT_LEAST)
        left = self.stepper.query_one("#left")
        left.styles.min_width = max(TAPE_AT_LEAST, wanted) if width >= WIDE else 0
