"""The data of a film's page that walks through what ran inside of a node, a step of the user's code at a time."""

from __future__ import annotations

from typing import Any

from microtape.recording.model.formatting import format_value
from microtape.recording.moments.moment import Moment
from viz.basics.characters import visible
from viz.basics.graph import SPACE, Box
from viz.films.fixed_layout import FixedLayout
from viz.films.page_data import (
    CODE_WIDTH,
    GRADIENT_WIDTH,
    ArrayTable,
    Chapter,
    Detail,
    SourceTable,
    changes,
    parts_of,
    steps_of_boxes,
)
from viz.insides.walk import InnerStep, Insides
from viz.planning.display_names import NAME_WIDTH, code_at, location

TITLE_WIDTH = 60


def inside_chapter(now: Moment, insides: Insides, layout: FixedLayout) -> Chapter:
    """The steps as a tape, and a picture of the layout before the first and after each."""
    steps = insides.steps
    sources = SourceTable(now.recording)

    def detail(number: int, values: ArrayTable) -> Detail:
        if not number:
            return {"title": ""}
        one = steps[number - 1]
        return {**_detail(now, one, _box(layout, one, number), values), "mark": sources.mark(one.step.place)}

    parts = parts_of((layout.heading(number).subtitle for number in range(len(layout))), detail)
    data = {
        "title": layout.heading(0).title,
        "finding": layout.heading(0).finding,
        "first": 0,
        "count": len(layout),
        **changes(layout),
        "tape": [_tape_row(now, one, layout) for one in steps],
        "nodes": {one.number: one.number + 1 for one in steps},
        "clicks": steps_of_boxes(layout),
    }
    return Chapter(data, parts, sources.used)


def _box(layout: FixedLayout, one: InnerStep, number: int) -> Box:
    box = layout.boxes[f"i{one.number}"].at(number)
    assert box is not None  # all steps are in each picture
    return box


def _tape_row(now: Moment, one: InnerStep, layout: FixedLayout) -> dict[str, Any]:
    indent = SPACE * 2 * (len(one.path) - 1)
    history = layout.boxes[f"i{one.number}"]
    looks = zip(history.since, history.looks, strict=True)
    return {
        "node": one.number,
        "title": indent + visible(_box(layout, one, len(layout) - 1).title, TITLE_WIDTH),
        "leaf": False,
        "shape": "",
        "history": [[since, box.state, _result(now, one, since)] for since, box in looks if box is not None],
    }


def _result(now: Moment, one: InnerStep, done: int) -> str:
    """A step's result, once it has run."""
    out = one.step.outputs[0] if one.number < done and len(one.step.outputs) == 1 else None
    value = now.recording.value(out.ref) if out is not None else None
    return "" if value is None else format_value(value, GRADIENT_WIDTH)


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
