"""A lesson where no stepper is beside its text. The text is about the program, so the program stands above it."""

from __future__ import annotations

import re

_TITLE = re.compile(r"# .*\n(?:\n\*Builds on .*\*\n)?")

ABOUT_THE_PROGRAM = """\
The text is about this program. `{command}` steps through it beside the
text; the keys that the text names are the keys there."""


def divided(prose: str) -> tuple[str, str]:
    """The title, with the lessons that this one builds on, and the text: the program belongs between the two."""
    title = _TITLE.match(prose)
    end = title.end() if title else 0  # without a title, which the proofs refuse
    return prose[:end].strip(), prose[end:].strip() + "\n"
