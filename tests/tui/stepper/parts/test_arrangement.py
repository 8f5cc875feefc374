"""Which view is shown, by the size of the terminal and the user's choice."""

from types import SimpleNamespace

import pytest
from textual.geometry import Size

from tests.support import handmade
from tests.tui.stepper.parts.fakes import FakeStepper
from tui.stepper.parts.arrangement import Arrangement


class TapeView:
    id = "tape"

    def wanted_width(self, width):
        return 95


@pytest.fixture
def made():
    notice = SimpleNamespace(id="too-small", update=lambda text: setattr(notice, "text", text))
    left = SimpleNamespace(id="left", styles=SimpleNamespace())
    boxes = SimpleNamespace(id="boxes", focus=lambda: None)
    tape = TapeView()
    tape.focus = lambda: None
    stepper = FakeStepper(handmade.diamond(), tape, boxes, left, notice)
    return SimpleNamespace(stepper=stepper, arrangement=Arrangement(stepper), left=left, notice=notice)


@pytest.mark.parametrize(("size", "view"), [((80, 24), "tape"), ((140, 50), "both"), ((140, 39), "tape")])
def test_the_graph_is_shown_as_well_where_there_is_room(made, size, view):
    made.arrangement.fit(Size(*size))
    assert made.arrangement.view == view
    assert made.stepper.classes == {f"-view-{view}"}


def test_a_choice_stays_whatever_the_size(made):
    made.arrangement.turn_view()
    made.arrangement.fit(Size(140, 50))
    assert (made.arrangement.view, made.arrangement.chosen) == ("boxes", "boxes")
    assert made.arrangement.main.id == "boxes"
    made.arrangement.turn_view()
    made.arrangement.turn_view()
    assert made.arrangement.view == "tape"


@pytest.mark.parametrize(("width", "least"), [(80, 0), (116, 80), (140, 90), (200, 95)])
def test_on_a_wide_screen_the_tape_has_the_width_of_its_names(made, width, least):
    made.arrangement.fit(Size(width, 30))
    assert made.left.styles.min_width == least


def test_a_too_small_terminal_shows_a_message(made):
    made.arrangement.fit(Size(50, 12))
    assert "-too-small" in made.stepper.classes
    assert made.notice.text.startswith("This terminal has 50×12 characters.\nThe stepper needs 60×18.")
    made.arrangement.fit(Size(80, 24))
    assert "-too-small" not in made.stepper.classes
