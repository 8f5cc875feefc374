"""How the screen is arranged: which view and which pane, by the size of the terminal, and what has the focus."""

from __future__ import annotations

from textual.events import Resize
from textual.reactive import Reactive, reactive
from textual.widget import Widget
from textual.widgets import Static

from tui.stepper.explaining import ExplainingScreen
from tui.time.breakpoints import Breakpoints
from tui.widgets.panes import PANES, SentencePane
from tui.widgets.tape import TapeView

SMALLEST = (60, 18)
WIDE = 116  # columns from which on the panes are beside the tape
TAPE_AT_LEAST, PANES_AT_LEAST = 80, 50  # columns, where they are side by side
SHARE = 0.64  # of the height for a tape above the graph, as in the style sheet
VIEWS = ("tape", "boxes", "both")


class ArrangingScreen(ExplainingScreen):
    """A screen with views of a tape and panes beside them."""

    focused = Reactive[Widget | None](None, repaint=False)  # Textual's own paints all of the screen
    pane: reactive[str] = reactive("node", repaint=False)
    view: reactive[str] = reactive("tape", repaint=False)
    chosen_view: str | None = None  # by the reader, now or another time

    def watch_pane(self, pane: str) -> None:
        """On a small terminal one pane shows at a time, under a line of tabs."""
        for name in PANES:
            self.query_one(f"#{name}").set_class(name == pane, "-chosen")
        chosen = "b on $accent-muted"
        tabs = "  ".join(
            f"[@click=screen.show_pane('{name}')][{chosen if name == pane else '$text-muted'}] {i} {name} [/][/]"
            for i, name in enumerate(PANES, 1)
        )
        self.query_one("#tabs", Static).update(tabs, layout=False)
        self._show_watch()

    def watch_breakpoints(self, breakpoints: Breakpoints | None) -> None:
        """The pane of what is watched comes with the first breakpoint and goes with the last."""
        super().watch_breakpoints(breakpoints)
        self._show_watch()

    def _show_watch(self) -> None:
        self.query_one("#watch").set_class("watch" not in self._panes, "-empty")

    @property
    def _panes(self) -> tuple[str, ...]:
        """The panes that there are: that of watches only while it has something to say, or was asked for."""
        some = self.pane == "watch" or (self.breakpoints is not None and bool(self.breakpoints.every))
        return PANES if some else PANES[:-1]

    def watch_view(self, view: str) -> None:
        """The tape, the boxes, or one above the other."""
        for name in VIEWS:
            self.set_class(name == view, f"-view-{name}")

    @property
    def main_view(self) -> str:
        """The view that has the focus where no pane has it."""
        return "boxes" if self.view == "boxes" else "tape"

    def action_turn_view(self) -> None:
        """The tape, the graph as boxes, both."""
        self.view = self.chosen_view = VIEWS[(VIEWS.index(self.view) + 1) % len(VIEWS)]
        self.query_one(f"#{self.main_view}").focus()

    def on_resize(self, event: Resize) -> None:
        """A terminal that is too small says so and waits."""
        too_small = event.size.width < SMALLEST[0] or event.size.height < SMALLEST[1]
        self.set_class(too_small, "-too-small")
        self.query_one("#too-small", Static).update(
            f"This terminal has {event.size.width}×{event.size.height} characters.\n"
            f"The stepper needs {SMALLEST[0]}×{SMALLEST[1]}.\n\nMake it larger: nothing is lost. q quits."
        )
        self.choose_view(event.size.height)
        self.share_out(event.size.width)

    def choose_view(self, height: int) -> None:
        """Until somebody has chosen one: the graph as well where the tape leaves much of its place empty."""
        if self.chosen_view is None and self.cursor is not None:
            tape, room = len(self.cursor.timeline.rows) + 3, height - 8  # with its frame; without the bars
            self.view = "both" if height >= 40 and tape <= SHARE * room else "tape"

    def on_tape_view_listed(self) -> None:
        """Another pass has names of other lengths."""
        self.share_out(self.size.width)

    def share_out(self, width: int) -> None:
        """Beside the tape, panes have more than they need where the screen is wide: it gets what its names take."""
        wanted = min(self.query_one(TapeView).wanted_width(width), width - PANES_AT_LEAST)
        self.query_one("#left").styles.min_width = max(TAPE_AT_LEAST, wanted) if width >= WIDE else 0

    # Moving between panes

    def action_show_pane(self, name: str) -> None:
        """Choose a pane, and focus it."""
        self.pane = name
        self.query_one(f"#{name}").focus()

    def action_turn_focus(self, by: int) -> None:
        """Tab: from the tape through the panes and back; Shift+Tab: the other way."""
        views = [name for name in ("tape", "boxes") if self.query_one(f"#{name}").display]
        order = (*views, *self._panes, *(["sentence"] if self.query_one(SentencePane).overflows else []))
        at = order.index(self.focused.id) if self.focused is not None and self.focused.id in order else 0
        name = order[(at + by) % len(order)]
        if name in PANES:
            self.pane = name
        self.query_one(f"#{name}", Widget).focus()
