"""The place of a moment in the user's program."""

from __future__ import annotations

from microtape.recording.model.model import Place
from tui.time.cursor import StepCursor


def place_of(cursor: StepCursor) -> Place | None:
    """The place of a moment in the program: that of its operation, or the call of backward."""
    pass_ = cursor.timeline.pass_
    if cursor.node is not None:
        return cursor.timeline.node(cursor.node).place
    if cursor.is_forward and cursor.next_node is not None:
        return cursor.timeline.node(cursor.next_node).place
    return pass_.place if pass_ is not None else None
