"""The panes: the one that is chosen, and the way of the focus."""

from types import SimpleNamespace

import pytest

from tests.support.recordings import handmade
from tests.tui.stepper.parts.fakes import FakeStepper
from tui.stepper.parts.key_declarations import keys_of
from tui.stepper.parts.pane_choice import NAMES, PaneChoice
from tui.widgets.panes import PANES
from tui.widgets.tabs import Tabs


class FakeView:
    """A view that can be focused."""

    def __init__(self, name, stepper):
        self.id = self.NAME = name
        self.display, self.is_empty, self.overflows = True, name == "watch", False
        self.classes = set()
        self._stepper = stepper

    def focus(self):
        self._stepper.focused = self

    def set_class(self, add, *names):
        (self.classes.update if add else self.classes.difference_update)(names)


class Screen(FakeStepper):
    """Finds its views by their class or id."""

    def __init__(self):
        super().__init__(handmade.diamond())
        self.views = {name: FakeView(name, self) for name in ("tape", "boxes", "sentence", *NAMES)}
        self.views["boxes"].display = False
        self.tabs = SimpleNamespace(chosen="")

    def query_one(self, wanted, expected=None):
        if wanted is Tabs:
            return self.tabs
        return self.views[wanted.removeprefix("#") if isinstance(wanted, str) else wanted.NAME]


@pytest.fixture
def screen():
    return Screen()


def test_every_pane_has_a_digit_in_the_order_of_the_table():
    assert tuple(pane.NAME for pane in PANES) == NAMES
    digits = {one.keys: one.action for one in keys_of(PaneChoice) if one.keys.isdigit()}
    assert digits == {str(i): f"show_pane('{name}')" for i, name in enumerate(NAMES, 1)}


def test_a_pane_is_chosen_marked_and_focused(screen):
    panes = PaneChoice(screen)
    panes.show_pane("leaves")
    assert panes.chosen == screen.focused.id == "leaves"
    assert [name for name in NAMES if "-chosen" in screen.views[name].classes] == ["leaves"]
    assert screen.tabs.chosen == "leaves"


def test_tab_cycles_and_skips_empty_and_hidden_panes(screen):
    panes, seen = PaneChoice(screen), []
    for _ in range(6):
        panes.turn_focus(1)
        seen.append(screen.focused.id)
    assert seen == ["node", "source", "leaves", "engine", "tape", "node"]
    panes.turn_focus(-1)
    assert screen.focused.id == "tape"


def test_a_long_sentence_can_be_reached(screen):
    screen.views["sentence"].overflows = True
    PaneChoice(screen).turn_focus(-1)
    assert screen.focused.id == "sentence"


def test_an_empty_pane_is_hidden_unless_it_is_chosen(screen):
    panes, watch = PaneChoice(screen), screen.views["watch"]
    panes.choose("node")
    assert "-empty" in watch.classes
    panes.choose("watch")
    assert "-empty" not in watch.classes
    panes.choose("node")
    watch.is_empty = False
    panes.show_wanted()
    assert "-empty" not in watch.classes
