"""Finds the moment that a picture shows, from the numbers of the pass and the step."""

from __future__ import annotations

from microtape.recording.model.model import Recording
from microtape.recording.moments.moment import Moment, PassTimeline
from viz.basics.errors import DrawError
from viz.basics.options import as_whole_number


def find_moment(recording: Recording, pass_index: int, steps_done: int | None) -> Moment:
    """The pass after that many steps; None is its end, with no current step.

    Raises:
        DrawError: there is no such pass or no such step.
    """
    pass_index = as_whole_number("pass_index", pass_index)
    steps_done = None if steps_done is None else as_whole_number("step", steps_done)
    count = len(recording.passes)
    if not 0 <= pass_index < max(count, 1):
        about = f"the recording has {_count(count, 'pass', 'passes')}" if count else "no backward pass was recorded"
        raise DrawError(f"there is no pass {pass_index}: {about}, so pass_index= takes 0 to {max(count - 1, 0)}")
    timeline = PassTimeline(recording, pass_index)
    steps = len(timeline.steps)
    if steps_done is not None and not 0 <= steps_done <= steps:
        about = f"the pass has {_count(steps, 'step')}" if count else "no backward pass was recorded"
        raise DrawError(f"there is no step {steps_done}: {about}, so step= takes 0 to {steps}")
    return timeline.at(steps_done)


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"
