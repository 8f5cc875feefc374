"""What a newcomer is told above the first few steps: where to look, and which key to press."""

from __future__ import annotations

HINTS = (
    "This is a program's tape: what it computed, row by row; %3 is row 3. Backward goes up it, from the result to "
    "the leaves. Press {move(1)} for its first step.",
    "▶ has just run, and handed a gradient to +. The sentence at the bottom says what it did and why. "
    "{move(-1)} takes the step back, {move(1)} goes on.",
    "{why} asks why this gradient is what it is. {play} plays. Of a large array you see its mean ± standard deviation; "
    "{help} lists the keys and what the other marks mean.",
)
"""After so many steps of backward; `{action}` is its key."""


def hint_after(steps: int) -> str:
    """What to say after so many steps; nothing once one knows the way."""
    return HINTS[steps] if steps < len(HINTS) else ""
