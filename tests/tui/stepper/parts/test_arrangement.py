"""Which views and panes are shown, by the size of the terminal and the user's choice."""

from types import SimpleNamespace

import pytest
from textual.geometry import Size

from tests.support.recordings import handmade
from tests.tui.stepper.parts.fakes import FakeStepper
from tui.stepper.parts.arrangement import Arrangement

GRAPH = 17  # lines of the diamond's boxes


class FakeView:
    def __init__(self, name):
        self.id, self.styles = name, SimpleNamespace(height=None, max_height=None, min_width=None)

    def focus(self):
        pass


class TapeView(FakeView):
    row_count = 5

    def wanted_width(self, width):
        return 95


class BoxView(FakeView):
    def wanted_height(self, cursor):
        return GRAPH


class LeavesPane(FakeView):
    pass


class FindingLine(FakeView):
    def fit(self, terminal):
        pass

    def height_at(self, terminal):
        return 0


class BesideLine(FakeView):
    lines = 0  # there is one recording


@pytest.fixture
def made():
    notice = SimpleNamespace(id="too-small", update=lambda text: setattr(notice, "text", text))
    left, tape = FakeView("left"), TapeView("tape")
    stepper = FakeStepper(
        handmade.diamond(),
        tape,
        BoxView("boxes"),
        LeavesPane("leaves"),
        FindingLine("found"),
        BesideLine("beside"),
        left,
        notice,
    )
    return SimpleNamespace(stepper=stepper, arrangement=Arrangement(stepper), left=left, tape=tape, notice=notice)


@pytest.mark.parametrize(
    ("size", "rows", "view"),
    [((80, 24), 5, "tape"), ((140, 50), 5, "both"), ((142, 31), 5, "both"), ((142, 31), 12, "tape"),
     ((140, 50), 40, "tape"), ((100, 30), 5, "tape"), ((100, 60), 5, "both")],
)  # fmt: skip
def test_the_graph_is_shown_as_well_where_the_tape_leaves_room(made, size, rows, view):
    made.tape.row_count = rows
    made.arrangement.fit(Size(*size))
    assert made.arrangement.view == view
    assert f"-view-{view}" in made.stepper.classes


def test_a_graph_that_fits_is_shown_whole(made):
    for height in range(31, 80):
        made.tape.row_count = height - 8 - GRAPH - 5  # it fits, with both frames and the line of headings
        made.arrangement.fit(Size(140, height))
        assert made.arrangement.view == "both"
        assert made.tape.styles.max_height >= made.tape.row_count + 3


@pytest.mark.parametrize(
    ("size", "second"),
    [((80, 24), ""), ((80, 30), "-stacked"), ((100, 24), "-beside"), ((100, 30), "-beside"), ((142, 31), "-stacked"),
     ((142, 24), ""), ((142, 40), "")],
)  # fmt: skip
def test_the_source_stays_beside_or_below_another_pane_where_there_is_room(made, size, second):
    made.arrangement.fit(Size(*size))
    assert {"-stacked", "-beside"} & made.stepper.classes == ({second} if second else set())


def test_below_each_other_the_tape_gives_the_panes_the_lines_that_it_does_not_need(made):
    made.arrangement.fit(Size(80, 24))
    assert made.left.styles.height == 6
    made.tape.row_count = 100
    made.arrangement.fit(Size(80, 24))
    assert made.left.styles.height == 8
    made.arrangement.fit(Size(140, 24))
    assert made.left.styles.height == "1fr"


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
