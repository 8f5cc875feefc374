"""A failed step in the picture: the message, the lines concerned, and the nodes that overwrote saved tensors."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from microtape.recording.model.model import ErrorRecord, Recording, SavedUse, TensorRef
from microtape.recording.model.moment import Moment
from viz.basics.characters import visible
from viz.basics.graph import Arrow, Box, Row
from viz.planning.box_plan import BoxPlan, Key
from viz.planning.display_names import code_at, location, tensor_name

MESSAGE_WIDTH = 58
MOST_LINES = 8


def overwriters(now: Moment) -> dict[int, SavedUse]:
    """The nodes that overwrote a saved tensor of the failed step, each with that tensor."""
    found = {}
    for used in now.failed.saved if now.failed is not None else ():
        writer, _ = now.timeline.producer.get(TensorRef(used.ref.tensor, used.version_now), (None, 0))
        if writer is not None and used.version_now != used.ref.version and now.failed and writer != now.failed.node:
            found[writer] = used
    return found


def failure_boxes(
    now: Moment, plan: BoxPlan, ranks: Mapping[Key, int], boxes: Mapping[Key, Box]
) -> tuple[list[Box], list[Arrow]]:
    """The error beside the node that raised it, and arrows from the nodes that overwrote its saved tensors."""
    step = now.failed
    key = plan.key_of.get(step.node) if step is not None else None
    if step is None or step.error is None or key is None:
        return [], []
    place = boxes[key].id
    box = Box(
        id="error",
        kind="error",
        state="failed",
        title=visible(step.error.type, 60),
        note="",
        rows=(*_message(step.error.message), *_places(now.recording, step.error)),
        ports=(),
        tooltip=(visible(step.error.message, 1000),),
        rank=ranks[key],
        node=None,
    )
    arrows = [Arrow("error", None, place, "note", "", False, "the error was raised here", aside=True)]
    for writer, used in overwriters(now).items():
        if writer in plan.key_of:
            label = f"overwrote {tensor_name(now, used.ref)}"
            tail = boxes[plan.key_of[writer]].id
            arrows.append(
                Arrow(tail, None, place, "overwrote", label, True, f"%{writer} {label} after it was saved", True)
            )
    return [box], arrows


def _message(message: str) -> list[Row]:
    lines = [part for line in message.splitlines() for part in textwrap.wrap(visible(line, 1000), MESSAGE_WIDTH)]
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], lines[MOST_LINES - 1][: MESSAGE_WIDTH - 1] + "…"]
    return [Row("", line) for line in lines]


def _places(recording: Recording, error: ErrorRecord) -> list[Row]:
    return [
        Row(visible(role, 20), f"{location(recording, place)}  {code_at(recording, place, 40)}", "alarm")
        for role, place in error.places
    ]
