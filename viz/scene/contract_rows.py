"""Rows for the contract of a custom Function's call: its arguments, its outputs, its ctx, and what it promised."""

from __future__ import annotations

from microtape.recording.model.contracts import role_of
from microtape.recording.model.formatting import format_value
from microtape.recording.model.model import FunctionRecord, NodeRecord, Recording
from viz.basics.characters import visible
from viz.basics.graph import Row
from viz.planning.display_names import NAME_WIDTH

LIST_WIDTH = 48
MOST_ATTRIBUTES = 3


def contract_rows(recording: Recording, node: NodeRecord) -> list[Row]:
    """What a call promised, except what it saved; a single output's role is among the rows."""
    function = function_of(recording, node)
    if function is None:
        return []
    needing = [one.name for one in function.arguments if one.needs_gradient]
    others = [one.name for one in function.arguments if not one.needs_gradient]
    rows = []
    if others or not needing:
        needs = f"{', '.join(needing) or 'none'} need{'s' * (len(needing) < 2)} a gradient"
        rows.append(Row("args", visible(needs + (f"; not {', '.join(others)}" if others else ""), LIST_WIDTH)))
    if len(function.outputs) == 1 and function.outputs[0].role != "differentiable":
        rows.append(Row("output", visible(role_of(function, function.outputs[0]), LIST_WIDTH)))
    for one in function.attributes[:MOST_ATTRIBUTES]:
        value = recording.value(one.value.ref)
        text = visible(one.value.text, LIST_WIDTH) if value is None else format_value(value, LIST_WIDTH)
        rows.append(Row(f"ctx.{visible(one.name, NAME_WIDTH)}", text))
    if len(function.attributes) > MOST_ATTRIBUTES:
        rows.append(Row("", f"… and {len(function.attributes) - MOST_ATTRIBUTES} more attributes of ctx", "muted"))
    if not function.materializes_grads:
        rows.append(Row("", "undefined gradients stay None", "muted"))
    if function.once_differentiable:
        rows.append(Row("", "once_differentiable", "muted"))
    return rows


def output_rows(recording: Recording, node: NodeRecord, output: int) -> list[Row]:
    """The role of one of several outputs of a Function."""
    function = function_of(recording, node)
    if function is None or output >= len(function.outputs):
        return []
    role = role_of(function, function.outputs[output])
    is_told = function.outputs[output].role == "non-differentiable"  # with its reason, in place of the gradient
    return [] if is_told else [Row("", visible(role, LIST_WIDTH), "muted")]


def function_of(recording: Recording, node: NodeRecord) -> FunctionRecord | None:
    """The contract of the Function's call that recorded this node."""
    return next((one for one in recording.functions if one.node == node.id), None) if recording.functions else None
