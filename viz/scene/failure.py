"""A failed step in the picture: its message and lines, and the nodes that overwrote saved tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from microtape.recording.model.model import SavedUse, TensorRef
from microtape.recording.moments.moment import Moment
from viz.basics.characters import visible
from viz.basics.graph import Arrow, Box, Row
from viz.planning.box_plan import BoxPlan, Key
from viz.planning.display_names import code_at, location, tensor_name


class Failure(NamedTuple):
    """What the callout of a failed step says."""

    node: int
    title: str
    message: str
    places: tuple[Row, ...]


def overwriters(now: Moment) -> dict[int, SavedUse]:
    """The nodes that overwrote a saved tensor of the failed step, each with that tensor."""
    found = {}
    for used in now.failed.saved if now.failed is not None else ():
        writer, _ = now.timeline.producer.get(TensorRef(used.ref.tensor, used.version_now), (None, 0))
        if writer is not None and used.version_now != used.ref.version and now.failed and writer != now.failed.node:
            found[writer] = used
    return found


def failure_callout(now: Moment) -> Failure | None:
    """The error that the current step raised, if it raised one."""
    step = now.failed
    if step is None or step.error is None:
        return None
    places = tuple(
        Row(visible(role, 20), f"{location(now.recording, place)}  {code_at(now.recording, place, 40)}", "alarm")
        for role, place in step.error.places
    )
    return Failure(step.node, visible(step.error.type, 60), step.error.message, places)


def overwriter_arrows(now: Moment, plan: BoxPlan, boxes: Mapping[Key, Box], failed: str) -> list[Arrow]:
    """The arrows to the failed step's box from the nodes that overwrote its saved tensors."""
    arrows = []
    for writer, used in overwriters(now).items():
        if writer in plan.key_of:
            label = f"overwrote {tensor_name(now, used.ref)}"
            tail = boxes[plan.key_of[writer]].id
            arrows.append(
                Arrow(tail, None, failed, "overwrote", label, True, f"%{writer} {label} after it was saved", True)
            )
    return arrows
