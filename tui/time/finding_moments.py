"""The moment of a finding: where the stepper goes to show it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from microtape.recording.findings import Finding
from microtape.recording.model.model import BorderRecord, Place, Recording
from tui.time.cursor import StepCursor
from tui.time.timeline import Timeline


def moment_of(cursor: StepCursor, finding: Finding) -> StepCursor:
    """The moment of a finding, in its pass: the culprit's step or operation, else where its line was left."""
    passes = len(cursor.recording.passes)
    there = cursor.to_pass(passes - 1 if finding.pass_ is None else finding.pass_)
    if finding.pass_ is None:
        return there.end()
    return there.to_moment(position_of(there.timeline, finding))


def position_of(timeline: Timeline, finding: Finding) -> int:
    """The number of that moment on the timeline of the finding's pass."""
    start = len(timeline.forward)
    if finding.step is not None:
        return start + finding.step + 1
    if finding.node is not None and (recorded := timeline.forward_at.get(finding.node)) is not None:
        return recorded
    if finding.place is not None and (left := _left(timeline, finding.place)) is not None:
        return left
    return start


def _left(timeline: Timeline, place: Place) -> int | None:
    """The moment of the last operation of a line, or before the border that stands there; None if there is neither."""
    lines = range(place.line, place.end_line + 1)
    here = [
        moment
        for moment, node in enumerate(timeline.forward, 1)
        if (at := timeline.node(node).place) is not None and at.file == place.file and at.line in lines
    ]
    if here:
        return here[-1]
    ended = [one.tape for one in timeline.recording.borders if one.place == place]
    return bisect_left(timeline.forward, ended[0]) if ended else None


def cuts(recording: Recording, found: Iterable[Finding]) -> tuple[BorderRecord, ...]:
    """The borders that cut leaves off, in order of time."""
    places = {one.place for one in found if one.kind == "no gradient" and one.place is not None}
    first: dict[Place | None, BorderRecord] = {}
    for border in recording.borders:
        if border.place in places:
            first.setdefault(border.place, border)
    return tuple(first.values())


def without_gradient(timeline: Timeline, found: Sequence[Finding]) -> Mapping[int, str]:
    """Leaves that get no gradient, and what is computed from them in vain, with what their rows say."""
    if timeline.pass_ is None:
        return {}
    leaves = [node for one in found if one.kind == "no gradient" for node in one.culprits]
    words = {leaf: "none" for leaf in leaves if leaf not in timeline.step_of}
    waiting = list(words)
    while waiting:
        for user in timeline.uses.users_of(waiting.pop()):
            if user not in words and user not in timeline.pass_.dependencies:
                words[user] = "cut off"
                waiting.append(user)
    return words
