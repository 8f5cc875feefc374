"""Folding: shows repeated operations, such as the iterations of a loop, as one row of the tape."""

from __future__ import annotations

from tui.stepper.parts.background import Background
from tui.stepper.parts.key_declarations import key
from tui.stepper.parts.part import Part, Stepper
from tui.widgets.tape import TapeView

FOLD = "fold or unfold all repetitions; open the nearest fold (as a click does)"


class Folding(Part[Stepper]):
    """Folds and unfolds the tape; the tape's view holds the state."""

    def __init__(self, stepper: Stepper, background: Background) -> None:
        super().__init__(stepper)
        self._background = background

    @property
    def _tape(self) -> TapeView:
        return self.stepper.query_one(TapeView)

    @key("z", "fold or unfold all repetitions", help=FOLD)
    def fold(self) -> None:
        """Fold all repetitions, or unfold them."""
        if self._background.prepared("looking for repetitions", self._tape.prepare_folds, self._fold):
            self._fold()

    def _fold(self) -> None:
        if not self._tape.turn_folds():
            self.say("Nothing repeats in this tape.", 3)
        elif self._tape.folds:
            one, every = self.stepper.key("open_fold"), self.stepper.key("fold")
            self.say(f"Repetitions are folded. {one} or a click opens a fold, {every} unfolds all.", 4)

    @key("Z", "open the nearest fold", help=FOLD)
    def open_fold(self) -> None:
        """Open the fold nearest to the current row; if every fold is open, close all of them."""
        if not self._tape.open_fold():
            self.say(f"Nothing is folded: {self.stepper.key('fold')} folds repetitions.", 3)
