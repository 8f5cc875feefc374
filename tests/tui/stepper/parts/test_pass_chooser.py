"""Going from pass to pass."""

from typing import Any

from tests.support.recordings import handmade
from tests.tui.stepper.parts.fakes import FakeBackground, FakeStepper
from tui.stepper.parts.beside import Beside
from tui.stepper.parts.pass_chooser import PassChooser
from tui.stepper.passes_screen import CompareScreen, PassChoice, PassesScreen
from tui.words.passes import passes_of


def made(recording):
    stepper = FakeStepper(recording)
    runs: Any = None  # nothing records again
    return stepper, PassChooser(stepper, FakeBackground(), Beside(stepper, None, runs, runs))


def test_turning_ends_at_the_ends_and_next_goes_round():
    stepper, chooser = made(handmade.twice())
    seen = []
    for turn in (lambda: chooser.turn_pass(1), lambda: chooser.turn_pass(1), chooser.next_pass, chooser.next_pass):
        turn()
        seen.append(stepper.cursor.timeline.pass_index)
    assert seen == [1, 1, 0, 1]


def test_the_list_leads_to_a_pass():
    stepper, chooser = made(handmade.twice())
    chooser.passes()
    assert isinstance(stepper.page, PassesScreen)
    stepper.close_page(PassChoice(passes_of(stepper.cursor.recording)[1], False))
    assert stepper.cursor.timeline.pass_index == 1


def test_two_passes_are_compared_and_a_node_of_either_is_gone_to():
    stepper, chooser = made(handmade.twice())
    chooser.passes()
    stepper.close_page(PassChoice(passes_of(stepper.cursor.recording)[1], True))
    assert isinstance(stepper.page, CompareScreen)
    stepper.close_page((passes_of(stepper.cursor.recording)[1], stepper.cursor.timeline.rows[0]))
    assert stepper.cursor.timeline.pass_index == 1


def test_closing_a_page_changes_nothing():
    stepper, chooser = made(handmade.twice())
    before = stepper.cursor
    chooser.passes()
    stepper.close_page(None)
    assert stepper.cursor is before


def test_a_program_without_backward_has_no_passes():
    stepper, chooser = made(handmade.Tape("forward.py", "").recording())
    chooser.next_pass()
    chooser.passes()
    assert stepper.notices == ["The program never called backward: there are no passes."]
