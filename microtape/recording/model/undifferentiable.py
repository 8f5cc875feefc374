"""Outputs that no gradient ever reaches, and why: argmax, comparisons, indices, masks that a Function has marked."""

from __future__ import annotations

import ast
from pathlib import PurePath

from microtape.basics.call_site import file_and_line
from microtape.recording.model.dtypes import kind_of
from microtape.recording.model.model import BorderRecord, NodeRecord, Recording, TensorRef
from microtape.recording.model.source import tree_of

_COMPARISONS = (
    "equal", "not_equal", "greater", "greater_equal", "less", "less_equal", "isclose",
    "eq", "ne", "gt", "ge", "lt", "le",
    "logical_and", "logical_or", "logical_not", "logical_xor", "invert", "isnan", "isinf", "isfinite",
)  # fmt: skip
_MARK = "mark_non_differentiable"


def why_undifferentiable(recording: Recording, node: NodeRecord, output: int) -> str:
    """Why no gradient reaches an output of a node: `int64`, `marked by mark_non_differentiable at fn.py:7`.

    Empty for an output that is differentiable.
    """
    ref = node.outputs[output] if output < len(node.outputs) else None
    promised = next((one.outputs for one in recording.functions if one.node == node.id), ())
    if output < len(promised) and promised[output].reason:
        return _marked(recording, node.op) if promised[output].reason == _MARK else promised[output].reason
    dtype = recording.tensors[ref.tensor].dtype if ref is not None else "float"
    return "" if kind_of(dtype) in "fc" else dtype


def why_border(recording: Recording, border: BorderRecord) -> str:
    """Why the output of an operation off the tape has no gradient: `an argmax has no derivative`, `int64`."""
    if is_comparison(border):
        return "a comparison has no derivative"
    if border.op.startswith("arg"):
        return f"an {border.op} has no derivative"
    dtype = recording.tensors[border.outputs[0].tensor].dtype if border.outputs else ""
    return dtype if dtype and kind_of(dtype) not in "fc" else f"{border.op} has no derivative"


def is_comparison(border: BorderRecord) -> bool:
    """Whether it compares numbers, as `x > 0.5` does."""
    return border.op in _COMPARISONS


def undifferentiable_outputs(recording: Recording, node: NodeRecord) -> list[tuple[int, TensorRef, str]]:
    """The outputs of a node that no gradient reaches: their number, the tensor, and why."""
    outputs = enumerate(node.outputs)
    found = [(k, ref, why_undifferentiable(recording, node, k)) for k, ref in outputs if ref is not None]
    return [one for one in found if one[2]]


def _marked(recording: Recording, function: str) -> str:
    """`marked by mark_non_differentiable at fn.py:7`: the line of that call in the Function's source."""
    lines = [
        (file, call.lineno)
        for file, text in recording.sources.items()
        for cls in ast.walk(tree_of(text) or ast.Module([], []))
        if isinstance(cls, ast.ClassDef) and cls.name == function
        for call in ast.walk(cls)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == _MARK
    ]
    where = f" at {file_and_line(PurePath(lines[0][0]).name, lines[0][1])}" if len(lines) == 1 else ""
    return f"marked by {_MARK}{where}"
