"""Searching and filtering the tape."""

import pytest

from tests.support.recordings import handmade
from tests.tui.stepper.parts.fakes import FakeStepper
from tui.stepper.parts.tape_search import TapeSearch


class TapeView:
    """The tape as far as a filter goes."""

    only, banner = None, ""

    def filter(self, nodes, banner=""):
        self.only, self.banner = nodes, banner

    @property
    def is_filtered(self):
        return self.only is not None


@pytest.fixture
def made():
    tape = TapeView()
    stepper = FakeStepper(handmade.diamond(), tape)
    return stepper, stepper.add(TapeSearch(stepper)), tape


def test_it_goes_from_match_to_match_around_the_end(made):
    stepper, search, _ = made
    search.find("mul")
    seen = [(stepper.cursor.node, search.found)]
    for by in (1, 1, -1):
        search.find_next(by)
        seen.append((stepper.cursor.node, search.found))
    assert seen == [(4, "mul: 1 of 2"), (2, "mul: 2 of 2"), (4, "mul: 1 of 2"), (2, "mul: 2 of 2")]


def test_any_other_moment_is_no_match(made):
    stepper, search, _ = made
    search.find("mul")
    stepper.cursor = stepper.cursor.move(1)
    assert search.found == ""


def test_a_text_without_a_match_is_refused_and_the_last_search_stays(made):
    stepper, search, _ = made
    search.find_next(1)
    assert stepper.notices == ["There is no search yet: <ask('find')> searches."]
    search.find("add")
    with pytest.raises(LookupError, match="'conv' does not occur in this pass"):
        search.find("conv")
    search.find_next(1)
    assert search.found == "add: 1 of 1"


def test_a_filter_shows_the_matches_alone_until_it_ends(made):
    _, search, tape = made
    search.filter("mul")
    assert (tape.only, tape.banner) == ({2, 4}, "2 of 5 rows: mul. <escape> shows all.")
    assert search.show_all()
    assert not search.show_all()
    search.filter("add")
    search.filter("")
    assert not tape.is_filtered


def test_a_filter_without_a_match_is_refused(made):
    with pytest.raises(LookupError, match="'conv' occurs in no row of this pass"):
        made[1].filter("conv")
    assert not made[2].is_filtered
