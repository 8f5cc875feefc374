"""The data of a film's page: what changes in boxes, arrows and rows of the tape, and the details of each step.

A *history* is a list of changes, each with the number of the picture from which on it holds. So the page finds how a
thing looks at any step without going through the steps before. The details of the steps come in *parts*, which the page
reads when it needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from microtape.recording.model.contracts import output_name
from microtape.recording.model.formatting import format_shape, format_value
from microtape.recording.model.model import NodeRecord, Place, Recording, SavedUse, Summary, Value
from microtape.recording.moments.moment import Moment, PassTimeline
from viz.basics.characters import visible
from viz.basics.graph import Row
from viz.basics.heat import heat
from viz.films.fixed_layout import FixedLayout
from viz.planning.display_names import (
    NAME_WIDTH,
    code_at,
    formula_text,
    location,
    operation_title,
    saved_names,
    shape_words,
)
from viz.scene.boxes import state_of

GRADIENT_WIDTH = 22
VALUE_WIDTH = 64
CODE_WIDTH = 80
PART = 100  # steps


@dataclass(frozen=True, slots=True)
class Chapter:
    """A pass for the page, as plain data for JSON."""

    data: dict[str, Any]
    parts: list[dict[str, Any]]  # what is said and shown after each step, and the arrays in it
    sources: dict[str, str]  # the files in which its steps are


class ArrayTable:
    """The arrays of a part of a film, each stored once."""

    def __init__(self) -> None:
        self.data: list[dict[str, Any]] = []
        self._known: dict[object, int] = {}
        self._alive: list[Value] = []  # keeps the ids that are used as keys unique

    def number(self, value: Value | None) -> int | None:
        """The array's index in the table; None for None."""
        if value is None:
            return None
        key: object = id(value) if isinstance(value, Summary) else (str(value.dtype), value.shape, value.tobytes())
        if key not in self._known:
            self._known[key] = len(self.data)
            self._alive.append(value)
            matrix = heat(value)
            self.data.append(
                {
                    "type": f"{value.dtype} {format_shape(value.shape)}",
                    "text": format_value(value, VALUE_WIDTH),
                    "cells": matrix.cells,
                    "exact": matrix.exact,
                    "largest": matrix.largest,
                }
            )
        return self._known[key]


Detail = dict[str, Any]


def parts_of(says: Iterable[str], detail: Callable[[int, ArrayTable], Detail]) -> list[dict[str, Any]]:
    """The details of all steps; `detail` makes that of one. Empty lists and texts are left out."""
    parts: list[dict[str, Any]] = []
    values = ArrayTable()
    for number, say in enumerate(says):
        if not number % PART:
            values = ArrayTable()
            parts.append({"steps": [], "values": values.data})
        made = {key: value for key, value in detail(number, values).items() if value not in ("", [])}
        parts[-1]["steps"].append({"say": say, **made})
    return parts


def changes(layout: FixedLayout) -> dict[str, Any]:
    """The histories of the boxes and of the arrows. The rows of boxes are in a table, each stored once."""
    table: dict[Row, int] = {}
    boxes = {
        id: [
            [since, "absent", []]
            if box is None
            else [since, box.state, [table.setdefault(row, len(table)) for row in layout.rows(box)]]
            for since, box in zip(history.since, history.looks, strict=True)
        ]
        for id, history in layout.boxes.items()
    }
    arrows = [
        [
            [since, "absent", ""] if arrow is None else [since, arrow.look, arrow.text if arrow.written else ""]
            for since, arrow in zip(history.since, history.looks, strict=True)
        ]
        for history in layout.arrows
    ]
    return {"boxes": boxes, "arrows": arrows, "rows": [[row.key, row.text, row.tone] for row in table]}


def steps_of_boxes(layout: FixedLayout) -> dict[str, int]:
    """The picture to which a click on a box leads: the first one in which it is current, or failed."""
    found = {}
    for id, history in layout.boxes.items():
        looks = zip(history.since, history.looks, strict=True)
        here = (since for since, box in looks if box is not None and box.state in ("current", "failed"))
        if (first := next(here, None)) is not None and id != "error":
            found[id] = first
    return found


def chapter_of(timeline: PassTimeline, nodes: Sequence[int], moments: Sequence[Moment], layout: FixedLayout) -> Chapter:
    """A pass: its tape of these nodes, and a picture of the layout for each moment."""
    histories: dict[int, list[list[Any]]] = {node: [] for node in nodes}
    for number, now in enumerate(moments):
        for node in timeline.touched(now.steps_done) if number else nodes:
            if node in histories:
                look = [state_of(now, node), _gradient(now, node)]
                if not histories[node] or histories[node][-1][1:] != look:
                    histories[node].append([number, *look])
    end = timeline.at()
    sources = SourceTable(timeline.recording)
    called = timeline.pass_.place if timeline.pass_ else None

    def detail(number: int, values: ArrayTable) -> Detail:
        now = moments[number]
        place = timeline.recording.nodes[now.current.node].place if now.current is not None else called
        return {**_detail(now, values), "mark": sources.mark(place)}

    parts = parts_of((layout.heading(number).subtitle for number in range(len(moments))), detail)
    data = {
        "title": layout.heading(0).title,
        "finding": layout.heading(0).finding,
        "first": moments[0].steps_done,
        "count": len(moments),
        "tape": [{**_tape_row(end, node), "history": history} for node, history in histories.items()],
        "nodes": {step.node: number for number, now in enumerate(moments) if (step := now.current) is not None},
    }
    return Chapter(data, parts, sources.used)


class SourceTable:
    """The source files that steps are in."""

    def __init__(self, recording: Recording) -> None:
        self._sources = recording.sources
        self.used: dict[str, str] = {}

    def mark(self, place: Place | None) -> list[Any]:
        """What to mark in the source: file, first and last line, and the columns there; empty if it is not known."""
        if place is None or place.file not in self._sources:
            return []
        self.used.setdefault(place.file, self._sources[place.file])
        return [place.file, place.line, place.end_line, place.column, place.end_column]


def _tape_row(now: Moment, node_id: int) -> dict[str, Any]:
    node = now.recording.nodes[node_id]
    if node.variable is not None:
        tensor = now.recording.tensors[node.variable]
        return {"node": node_id, "title": visible(tensor.name, NAME_WIDTH) or f"%{node_id}", "leaf": True,
                "shape": shape_words(tensor.shape)}  # fmt: skip
    first = node.outputs[0] if node.outputs else None
    shape = shape_words(now.recording.tensors[first.tensor].shape) if first is not None else ""
    return {"node": node_id, "title": operation_title(now, node), "leaf": False, "shape": shape}


def _gradient(now: Moment, node_id: int) -> str:
    """A node's gradient: for a leaf its `.grad`, else the sum so far."""
    node = now.recording.nodes[node_id]
    if node.variable is not None:
        grad = now.grad(node.variable)
        return "" if grad is None else format_value(grad, GRADIENT_WIDTH)
    step = now.step_of(node_id)
    if step is not None and step.grad_outputs:
        return format_value(step.grad_outputs[0], GRADIENT_WIDTH)
    came = now.arrived(node_id, 0)
    return "" if came is None else format_value(came.total, GRADIENT_WIDTH)


def _detail(now: Moment, values: ArrayTable) -> dict[str, Any]:
    """The details of the current step; before the first step, the seeds."""
    step, pass_ = now.current, now.pass_
    if step is None:
        seeds = now.timeline.seeds
        given = [
            [f"the first gradient of {_label(now, node)}", values.number(seed)] for (node, _), seed in seeds.items()
        ]
        return {"title": f"{pass_.kind}()" if pass_ else "", "in": given}
    node = now.recording.nodes[step.node]
    outputs = len(step.grad_outputs)
    detail: dict[str, Any] = {
        "node": node.id,
        "title": _label(now, node.id) if node.variable is not None else operation_title(now, node),
        "name": visible(node.name, 60),
        "formula": visible(formula_text(now, node), 200),
        "in": [
            ["gradient" if outputs == 1 else f"gradient of {_output(now, node, k)}", values.number(one)]
            for k, one in enumerate(step.grad_outputs)
        ],
        "saved": [
            [*_saved_texts(now, node, use), values.number(use.value)] for use in step.saved
        ],
        "out": [
            [_label(now, one.node), values.number(one.term), values.number(one.before), values.number(one.total),
             one.dependencies_left]
            for one in step.deliveries
        ],
        "hooks": [f"{call.kind} hook {visible(call.name.rpartition('<locals>.')[2], 40)}" for call in step.hooks],
        "freed": step.freed,
    }  # fmt: skip
    if node.place is not None:
        detail["where"] = location(now.recording, node.place)
        detail["code"] = code_at(now.recording, node.place, CODE_WIDTH)
    if node.variable is not None:
        detail["leaf"] = [values.number(step.grad_before), values.number(step.grad_after)]
    if step.error is not None:
        detail["error"] = [visible(step.error.type, 60), *_lines(step.error.message)]
    return detail


def _label(now: Moment, node: int) -> str:
    name = visible(now.recording.label(node), NAME_WIDTH)
    return name if name.startswith("%") else f"{name} (%{node})"


def _output(now: Moment, node: NodeRecord, number: int) -> str:
    name = output_name(now.recording, node, number, now.timeline.functions.get(node.id))
    return visible(name, NAME_WIDTH) or f"output {number}"


def _saved_texts(now: Moment, node: NodeRecord, use: SavedUse) -> tuple[str, str]:
    """The name of a saved tensor, and its version; a name that it has in the operation alone goes before its own."""
    inside, name = saved_names(now, node, use)
    versions = f"version {use.ref.version}" + (f", now {use.version_now}" if use.version_now != use.ref.version else "")
    return (inside, f"{name}, {versions}") if inside else (name, versions)


def _lines(text: str) -> Iterable[str]:
    return [visible(line, 600) for line in text.splitlines()[:8]]
