"""The data of a film's page that walks through what ran inside of a node, a step of the user's code at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from microtape.recording.model.formatting import format_value
from microtape.recording.model.moment import Moment
from viz.basics.characters import visible
from viz.basics.graph import SPACE, Box, VisualGraph
from viz.films.page_data import CODE_WIDTH, GRADIENT_WIDTH, ArrayTable, PictureChanges
from viz.insides.walk import InnerStep, Insides
from viz.planning.display_names import NAME_WIDTH, code_at, location

TITLE_WIDTH = 60


def inside_data(now: Moment, insides: Insides, pictures: Sequence[VisualGraph], values: ArrayTable) -> dict[str, Any]:
    """The steps as a tape, and a frame after each; `pictures`, one for each frame, have a fixed layout."""
    changes = PictureChanges()
    frames = []
    for done, picture in enumerate(pictures):
        boxes = {box.id: box for box in picture.boxes}
        touched = insides.steps if not done else insides.steps[max(done - 2, 0) : done]
        frames.append(
            {
                "say": picture.subtitle,
                **changes.to(picture),
                "tape": {one.number: _row(now, one, boxes[f"i{one.number}"], done) for one in touched},
                "detail": _detail(now, insides.steps[done - 1], boxes[f"i{done - 1}"], values)
                if done
                else {"title": ""},
            }
        )
    last = {box.id: box for box in pictures[-1].boxes}
    return {
        "title": pictures[0].title,
        "finding": pictures[0].finding,
        "first": 0,
        "tape": [_tape_row(one, last[f"i{one.number}"]) for one in insides.steps],
        "evaluated": {one.number: one.number + 1 for one in insides.steps},
        "frames": frames,
    }  # fmt: skip


def _tape_row(one: InnerStep, box: Box) -> dict[str, Any]:
    indent = SPACE * 2 * (len(one.path) - 1)
    return {"node": one.number, "title": indent + visible(box.title, TITLE_WIDTH), "leaf": False, "shape": ""}


def _row(now: Moment, one: InnerStep, box: Box, done: int) -> list[str]:
    """A step's row of the tape: its state and, once it has run, its result."""
    out = one.step.outputs[0] if one.number < done and len(one.step.outputs) == 1 else None
    value = now.recording.value(out.ref) if out is not None else None
    return [box.state, "" if value is None else format_value(value, GRADIENT_WIDTH)]


def _detail(now: Moment, one: InnerStep, box: Box, values: ArrayTable) -> dict[str, Any]:
    """The line of a step and the local variables there."""
    step = one.step
    detail: dict[str, Any] = {
        "title": box.title,
        "variables": [
            [visible(var.name, NAME_WIDTH), values.number(now.recording.value(var.value.ref)),
             visible(var.value.text, CODE_WIDTH)]
            for var in step.variables
        ],
    }  # fmt: skip
    if step.place is not None:
        detail["where"] = location(now.recording, step.place)
        detail["code"] = code_at(now.recording, step.place, CODE_WIDTH)
    if step.kind == "raise" and one.call.error is not None:
        detail["error"] = [visible(one.call.error.type, 60), visible(one.call.error.message, 600)]
    return detail
