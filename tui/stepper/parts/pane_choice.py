"""The choice of a pane: the one that a small terminal shows, and the one with the focus."""

from __future__ import annotations

from collections.abc import Callable

from tui.stepper.parts.key_declarations import key
from tui.stepper.parts.part import Part, Stepper
from tui.widgets.pane import Pane
from tui.widgets.panes import PANES, SentencePane
from tui.widgets.tabs import Tabs

NAMES = tuple(pane.NAME for pane in PANES)
NODE, SOURCE = NAMES[:2]  # the second pane, where there is room for two: the source unless it is the chosen one
SHOW = f"show a pane: {', '.join(NAMES)}"


def _key_each(method: Callable[..., None]) -> Callable[..., None]:
    """Declare a digit for each pane."""
    for number, name in reversed(list(enumerate(NAMES, 1))):
        method = key(str(number), f"show the {name} pane", name, help=SHOW)(method)
    return method


class PaneChoice(Part[Stepper]):
    """Chooses a pane. A small terminal shows only the chosen pane, under a line of tabs."""

    def __init__(self, stepper: Stepper) -> None:
        super().__init__(stepper)
        self.chosen = self.kept = NAMES[0]  # `kept` is the one that the user chose

    @key("tab", "pane", 1, help="the next pane", footer=6)
    @key("shift+tab", "", -1)
    def turn_focus(self, by: int) -> None:
        """Move the focus to the next view or pane, or to the previous one, in a cycle."""
        views = [name for name in ("tape", "boxes") if self.stepper.query_one(f"#{name}").display]
        panes = [pane.NAME for pane in PANES if self._is_wanted(self.stepper.query_one(pane))]
        sentence = ["sentence"] if self.stepper.query_one(SentencePane).overflows else []
        order, focused = [*views, *panes, *sentence], self.stepper.focused
        at = order.index(focused.id) if focused is not None and focused.id in order else 0
        name = order[(at + by) % len(order)]
        if name in NAMES:
            self.show_pane(name)
        else:
            self.stepper.query_one(f"#{name}").focus()

    @_key_each
    def show_pane(self, name: str) -> None:
        """Choose a pane, and focus it."""
        self.choose(name)
        self.stepper.query_one(f"#{name}").focus()

    def choose(self, name: str) -> None:
        """Choose a pane, and mark its tab."""
        self.kept = name
        self.show_for_now(name)

    def show_for_now(self, name: str) -> None:
        """Show a pane that the user did not choose; the next session does not begin with it."""
        self.chosen = name
        self.stepper.query_one(Tabs).chosen = name
        self.show_wanted()

    def show_wanted(self) -> None:
        """Mark the chosen pane, and hide empty panes."""
        for pane in map(self.stepper.query_one, PANES):
            pane.set_class(self.chosen == pane.NAME, "-chosen")
            pane.set_class((NODE if self.chosen == SOURCE else SOURCE) == pane.NAME, "-second")
            pane.set_class(not self._is_wanted(pane), "-empty")

    def _is_wanted(self, pane: Pane) -> bool:
        return self.chosen == pane.NAME or not pane.is_empty
