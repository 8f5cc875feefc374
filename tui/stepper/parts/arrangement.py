"""How the screen is arranged: the tape, the graph or both, and how much room each has."""

from __future__ import annotations

from textual.geometry import Size
from textual.widget import Widget
from textual.widgets import Static

from tui.stepper.parts.key_declarations import key
from tui.stepper.parts.part import Part, Stepper
from tui.widgets.tape import TapeView

SMALLEST = (60, 18)  # columns and lines of a terminal
WIDE = 116  # columns from which on the panes are beside the tape
TALL = 40  # lines from which on the graph may be shown as well without being asked for
TAPE_AT_LEAST, PANES_AT_LEAST = 80, 50  # columns, where they are side by side
SHARE = 0.64  # of the height for a tape above the graph, as in the style sheet
FRAME, BARS = 3, 8  # lines around the tape's rows, and around the tape
VIEWS = ("tape", "boxes", "both")


class Arrangement(Part[Stepper]):
    """Which views are shown: what the user chose, or what fits the terminal."""

    def __init__(self, stepper: Stepper) -> None:
        super().__init__(stepper)
        self.view = VIEWS[0]
        self.chosen: str | None = None  # by the user, now or another time

    @property
    def main(self) -> Widget:
        """The view that has the focus where no pane has it."""
        return self.stepper.query_one("#boxes" if self.view == "boxes" else "#tape")

    @key("v", "tape, boxes, both", help="the tape, the graph as boxes, both")
    def turn_view(self) -> None:
        """Show the tape, the graph as boxes, or both."""
        self.choose(VIEWS[(VIEWS.index(self.view) + 1) % len(VIEWS)])
        self.main.focus()

    def choose(self, view: str) -> None:
        """Show a view whatever the terminal's size."""
        self.chosen = view
        self.show(view)

    def show(self, view: str) -> None:
        """Show a view; the style sheet knows what that means."""
        self.view = view
        for name in VIEWS:
            self.stepper.set_class(name == view, f"-view-{name}")

    def fit(self, size: Size) -> None:
        """Share out a terminal of that size; one that is too small says so and waits."""
        too_small = size.width < SMALLEST[0] or size.height < SMALLEST[1]
        self.stepper.set_class(too_small, "-too-small")
        self.stepper.query_one("#too-small", Static).update(
            f"This terminal has {size.width}×{size.height} characters.\n"
            f"The stepper needs {SMALLEST[0]}×{SMALLEST[1]}.\n\nMake it larger: nothing is lost. q quits."
        )
        if self.chosen is None:
            rows = len(self.cursor.timeline.rows) + FRAME
            self.show("both" if size.height >= TALL and rows <= SHARE * (size.height - BARS) else "tape")
        self.fit_width(size.width)

    def fit_width(self, width: int) -> None:
        """On a wide screen, give the tape the width that its names take: the panes have more than they need."""
        wanted = min(self.stepper.query_one(TapeView).wanted_width(width), width - PANES_AT_LEAST)
        left = self.stepper.query_one("#left")
        left.styles.min_width = max(TAPE_AT_LEAST, wanted) if width >= WIDE else 0
