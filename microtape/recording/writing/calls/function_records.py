"""What a call of a custom Function promised to autograd: its arguments, its outputs and the attributes of its ctx."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from microtape.basics.dtypes import is_differentiable
from microtape.functions.function import Function
from microtape.functions.function_node import FunctionNode
from microtape.recording.model.model import ArgumentRecord, FunctionRecord, Operand, OutputRecord, Variable
from microtape.recording.writing.calls.call import attributes_of
from microtape.recording.writing.names.node_text import dtype_name
from microtape.tape.tensor_state import TensorState, is_view

Names = list[tuple[str, Any]]  # the variables of forward and setup_context when they returned, and what they held


def function_record(
    number: int,
    node: FunctionNode,
    args: Sequence[Any],
    before: Sequence[Operand],
    raw: Sequence[Any],
    names: Names,
    operand: Callable[[Any], Operand],
) -> FunctionRecord:
    """The record of a call. `before` are the arguments as they were before it, `raw` what forward returned."""
    function: Any = node.function
    return FunctionRecord(
        node=number,
        arguments=tuple(_arguments(node, before)),
        outputs=tuple([_output(node, args, one, names) for one in raw]),
        attributes=tuple([Variable(name, operand(value)) for name, value in attributes_of(node.ctx)]),
        materializes_grads=node.materialize_grads,
        once_differentiable=hasattr(function.backward, "once_differentiable")
        or hasattr(function.vjp, "once_differentiable"),
    )


def name_of(value: Any, names: Names) -> str:
    """The variable that held this object, rather than a list or ctx in which it was; empty if none did."""
    found = [name for name, one in names if one is value]
    return min(found, key=lambda name: not name.isidentifier(), default="")


def _arguments(node: FunctionNode, before: Sequence[Operand]) -> list[ArgumentRecord]:
    function: Any = node.function
    names = parameters(function.forward, len(before), has_ctx=function.setup_context is Function.setup_context)
    return arguments(names, before, node.is_tensor_input, node.needs_input_grad)


def arguments(
    names: Sequence[str], before: Sequence[Operand], are_tensors: Sequence[bool], needed: Sequence[bool]
) -> list[ArgumentRecord]:
    """The records of the arguments of a call."""
    records, edges = [], 0
    for name, value, is_tensor, needs_gradient in zip(names, before, are_tensors, needed, strict=True):
        records.append(ArgumentRecord(name, value, needs_gradient, edges if is_tensor else None))
        edges += is_tensor
    return records


def parameters(forward: Any, count: int, *, has_ctx: bool) -> list[str]:
    """The name of each positional argument of forward, without ctx."""
    names = _names(getattr(forward, "__wrapped__", forward))
    if has_ctx:
        names = names[1:]
    return [
        next((f"{one[1:]}[{i - at}]" for at, one in enumerate(names) if one.startswith("*") and i >= at), None)
        or (names[i] if i < len(names) else f"argument {i + 1}")
        for i in range(count)
    ]


@functools.cache
def _names(forward: Any) -> list[str]:
    try:
        parameters = inspect.signature(forward).parameters.values()
    except (TypeError, ValueError):  # written in C
        return []
    kinds = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
    return [
        f"*{one.name}" if one.kind is inspect.Parameter.VAR_POSITIONAL else one.name
        for one in parameters
        if one.kind not in kinds
    ]


def _output(node: FunctionNode, args: Sequence[Any], value: Any, names: Names) -> OutputRecord:
    name = name_of(value, names)
    if not isinstance(value, TensorState):
        return OutputRecord(name, "not a tensor", None, "")
    argument = next((i for i, one in enumerate(args) if one is value), None)
    reason = _why_non_differentiable(node, value)
    if any(one is value for one in node.dirty):
        return OutputRecord(name, "dirty", argument, reason)
    if reason:
        return OutputRecord(name, "non-differentiable", argument, reason)
    if argument is not None:
        return OutputRecord(name, "returned unchanged", argument, "")
    viewed = _viewed(args, value)
    return OutputRecord(name, "differentiable" if viewed is None else "view", viewed, "")


def _why_non_differentiable(node: FunctionNode, value: TensorState) -> str:
    """The call that marked an output, or its dtype; empty for an output with a gradient."""
    if any(one is value for one in node.non_differentiable):
        return "mark_non_differentiable"
    dtype = value.array.dtype
    return "" if is_differentiable(dtype) else dtype_name(dtype)


def _viewed(args: Sequence[Any], value: TensorState) -> int | None:
    """The argument whose memory `value` shows; of several views of one tensor, the one that overlaps with it."""
    if not is_view(value):
        return None
    base = value.meta.view.base  # type: ignore[union-attr]
    found = [
        i
        for i, one in enumerate(args)
        if isinstance(one, TensorState) and (one is base or (is_view(one) and one.meta.view.base is base))  # type: ignore[union-attr]
    ]
    overlapping = [i for i in found if np.may_share_memory(args[i].array, value.array)]
    return next(iter(overlapping or found), None)
