"""Folding the tape: what it says."""

from tests.support.recordings import handmade
from tests.tui.stepper.parts.fakes import FakeBackground, FakeStepper
from tui.stepper.parts.folding import Folding


class TapeView:
    """A tape with folds, or without."""

    def __init__(self, has_folds):
        self.has_folds, self.folds, self.prepared = has_folds, False, False

    def prepare_folds(self):
        self.prepared = True

    def turn_folds(self):
        self.folds = self.has_folds and not self.folds
        return self.has_folds

    def open_fold(self):
        return self.folds


def made(has_folds):
    tape = TapeView(has_folds)
    stepper = FakeStepper(handmade.diamond(), tape)
    return stepper, Folding(stepper, FakeBackground()), tape


def test_it_folds_and_unfolds():
    stepper, folding, tape = made(True)
    folding.fold()
    assert tape.prepared
    assert tape.folds
    assert stepper.notices == ["Repetitions are folded. <open_fold> or a click opens a fold, <fold> unfolds all."]
    folding.fold()
    assert not tape.folds
    assert len(stepper.notices) == 1


def test_where_nothing_repeats_it_says_so():
    stepper, folding, _ = made(False)
    folding.fold()
    folding.open_fold()
    assert stepper.notices == ["Nothing repeats in this tape.", "Nothing is folded: <fold> folds repetitions."]
