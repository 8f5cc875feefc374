"""Hints for newcomers above the first few steps: where to look, and which key to press."""

from __future__ import annotations

from tui.stepper.parts.part import Part, Stepper
from tui.time.cursor import StepCursor

HINTS = (
    "Your program's tape: one operation a row, in the order they ran; %3 is row 3. Backward goes up, from result to "
    "leaves. Press {move(1)} for its first step.",
    "The node at ▶ has just run and sent gradients to the nodes at +. The sentence at the bottom explains the step. "
    "{move(-1)} steps back, {move(1)} steps forward.",
    "{why} explains why this gradient has its value; {play} plays all steps. A large array is shown as its mean ± "
    "standard deviation, |g| is a gradient's size; {help} lists the keys and marks.",
)
"""The hint after 0, 1 and 2 steps of backward; `{action}` stands for the key of an action."""


class NewcomerHints(Part[Stepper]):
    """Shows each hint once, in a newcomer's first session."""

    def __init__(self, stepper: Stepper, *, wanted: bool) -> None:
        super().__init__(stepper)
        self._wanted = wanted

    def follow(self, old: StepCursor | None, new: StepCursor) -> None:
        """Show the hint for this step; after the last hint, none."""
        if self._wanted:
            self._wanted = new.steps_done < len(HINTS)
            self.stepper.say_above(self.stepper.key_names.spell(HINTS[new.steps_done]) if self._wanted else "")
