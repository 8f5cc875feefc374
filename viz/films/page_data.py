"""The data of a film's page: for each moment, the changes since the previous one, as plain data for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from microtape.recording.model.contracts import output_name
from microtape.recording.model.formatting import format_shape, format_value
from microtape.recording.model.model import NodeRecord, Summary, Value
from microtape.recording.model.moment import Moment, PassTimeline
from viz.basics.characters import visible
from viz.basics.graph import SPACE, WIDE_SPACE, Box, Row, VisualGraph
from viz.basics.heat import heat
from viz.planning.display_names import NAME_WIDTH, code_at, location, operation_title, shape_words, tensor_name
from viz.scene.boxes import state_of

GRADIENT_WIDTH = 22
VALUE_WIDTH = 64
CODE_WIDTH = 80


class ArrayTable:
    """The arrays of a film, each stored once."""

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


class PictureChanges:
    """What changes in the boxes and arrows from each picture of a film to the next."""

    def __init__(self) -> None:
        self._boxes: dict[str, Box] = {}
        self._arrows: dict[int, list[str]] = {}

    def to(self, picture: VisualGraph) -> dict[str, Any]:
        """The changes since the previous picture."""
        boxes = [box for box in picture.boxes if self._boxes.get(box.id) is not box]
        arrows = {number: [arrow.look, _stripped(arrow.text)] for number, arrow in enumerate(picture.arrows)}
        changed = {number: one for number, one in arrows.items() if self._arrows.get(number) != one}
        self._boxes.update((box.id, box) for box in boxes)
        self._arrows = arrows
        return {"boxes": {box.id: [box.state, _rows(box)] for box in boxes}, "arrows": changed}


def chapter_data(
    timeline: PassTimeline,
    nodes: Sequence[int],
    moments: Sequence[Moment],
    pictures: Sequence[VisualGraph],
    values: ArrayTable,
) -> dict[str, Any]:
    """A pass: its tape, and a frame for each moment. `pictures`, one for each moment, have a fixed layout."""
    frames: list[dict[str, Any]] = []
    changes = PictureChanges()
    for now, picture in zip(moments, pictures, strict=True):
        touched = timeline.touched(now.steps_done) if frames else set(nodes)
        frames.append(
            {
                "say": picture.subtitle,
                **changes.to(picture),
                "tape": {node: [state_of(now, node), _gradient(now, node)] for node in nodes if node in touched},
                "detail": _detail(now, values),
            }
        )
    return {
        "title": pictures[0].title,
        "finding": pictures[0].finding,
        "first": moments[0].steps_done,
        "tape": [_tape_row(timeline.at(), node) for node in nodes],
        "evaluated": {step.node: number for number, now in enumerate(moments) if (step := now.current) is not None},
        "frames": frames,
    }


def _stripped(text: str) -> str:
    return text.rstrip(SPACE + WIDE_SPACE)


def _rows(box: Box) -> list[list[str]]:
    return [[_stripped(row.key), _stripped(row.text), row.tone] for row in every_row(box)]


def every_row(box: Box) -> list[Row]:
    """The rows of a box, then those of its ports."""
    return [*box.rows, *(row for port in box.ports for row in port.rows)]


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
        "formula": visible(node.formula, 200),
        "in": [
            ["gradient" if outputs == 1 else f"gradient of {_output(now, node, k)}", values.number(one)]
            for k, one in enumerate(step.grad_outputs)
        ],
        "saved": [
            [visible(use.name, NAME_WIDTH), _saved_note(now, use.ref, use.version_now), values.number(use.value)]
            for use in step.saved
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


def _saved_note(now: Moment, ref: Any, version_now: int) -> str:
    name = tensor_name(now, ref)
    return f"{name}, version {ref.version}" + (f", now {version_now}" if version_now != ref.version else "")


def _lines(text: str) -> Iterable[str]:
    return [visible(line, 600) for line in text.splitlines()[:8]]
