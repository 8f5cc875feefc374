"""What a newcomer is told above the first few steps: where to look, and which key to press."""

from __future__ import annotations

from tui.stepper.parts.part import Part, Stepper
from tui.time.cursor import StepCursor

HINTS = (
    "This is a program's tape: what it computed, row by row; %3 is row 3. Backward goes up it, from the result to "
    "the leaves. Press {move(1)} for its first step.",
    "▶ has just run, and sent a gradient to +. The sentence at the bottom says what it did and why. "
    "{move(-1)} takes the step back, {move(1)} goes on.",
    "{why} asks why this gradient is what it is. {play} plays. A large array is shown as its mean ± standard "
    "deviation; {help} lists the keys and what the other marks mean.",
)
"""After so many steps of backward; `{action}` is its key."""


class NewcomerHints(Part[Stepper]):
    """Shows the hints once each, to a newcomer alone."""

    def __init__(self, stepper: Stepper, *, wanted: bool) -> None:
        super().__init__(stepper)
        self._wanted = wanted

    def follow(self, old: StepCursor | None, new: StepCursor) -> None:
        """Show the hint of this step; after the last one, no more."""
        if self._wanted:
            self._wanted = new.steps_done < len(HINTS)
            self.stepper.say_above(self.stepper.key_names.spell(HINTS[new.steps_done]) if self._wanted else "")
