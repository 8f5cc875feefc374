"""The contract of a Function's call, in lines: its arguments, its outputs, what it saved and what its ctx holds.

Names are those of the program: for an output the variable that got it, else the one that held it in forward.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from microtape.recording.model.calls import FunctionRecord, OutputRecord
from microtape.recording.model.model import BackwardStep, NodeRecord, Recording, SavedRecord
from microtape.recording.model.parts import Operand, TensorRef, Value

SavedRole: TypeAlias = Literal["input", "output", "intermediate"]


class ArgumentLine(NamedTuple):
    """An argument of the call, and the gradient that backward returned for it."""

    name: str  # of forward's parameter
    role: str  # "needs a gradient", "no tensor"
    value: Operand
    edge: int | None  # None: no tensor, so its gradient must be None
    gradient: Value | None  # None also before backward


class OutputLine(NamedTuple):
    """An output of the call, and the gradient that backward got for it."""

    name: str
    role: str  # "differentiable", "non-differentiable", "the argument x itself, dirty"
    reason: str  # why it gets no gradient: "mark_non_differentiable" or its dtype; empty if it gets one
    value: TensorRef | None  # None: no tensor, or not recorded
    before: TensorRef | None  # of a dirty argument: what the call overwrote
    is_differentiable: bool
    gradient: Value | None  # None also before backward
    is_zeros: bool  # the gradient was undefined, and backward got zeros in its place


class SavedLine(NamedTuple):
    """A saved tensor: its version when it was saved and, during backward, when it was unpacked."""

    name: str
    role: SavedRole
    saved: SavedRecord
    version_now: int | None  # None before backward


class Contract(NamedTuple):
    """All lines of one call."""

    arguments: tuple[ArgumentLine, ...]
    outputs: tuple[OutputLine, ...]
    saved: tuple[SavedLine, ...]
    attributes: tuple[tuple[str, Operand], ...]  # of ctx
    promises: tuple[str, ...]  # what it does with undefined gradients; whether it can be differentiated twice


def contract_of(
    recording: Recording, function: FunctionRecord, step: BackwardStep | None = None, arrived: Collection[int] = ()
) -> Contract:
    """The contract of a call, with the gradients of a step; a gradient `arrived` for the outputs with these numbers."""
    node = recording.nodes[function.node]
    return Contract(
        tuple(_arguments(function, step)),
        tuple(_outputs(recording, node, function, step, arrived)),
        tuple(_saved(node, function, step)),
        tuple([(one.name, one.value) for one in function.attributes]),
        tuple(_promises(function)),
    )


def output_name(recording: Recording, node: NodeRecord, number: int, function: FunctionRecord | None = None) -> str:
    """The user's name for an output of a node, `function` if it has a contract; empty if it has no name."""
    name = _name(recording, node.outputs[number] if number < len(node.outputs) else None)
    has_contract = function is not None and number < len(function.outputs)
    return name or (function.outputs[number].name if function is not None and has_contract else "")


def _arguments(function: FunctionRecord, step: BackwardStep | None) -> Iterator[ArgumentLine]:
    sent: Sequence[Value | None] = step.grad_inputs if step is not None else ()
    for one in function.arguments:
        role = "no tensor"
        if one.edge is not None:
            role = "needs a gradient" if one.needs_gradient else "needs no gradient"
        gradient = sent[one.edge] if one.edge is not None and one.edge < len(sent) else None
        yield ArgumentLine(one.name, role, one.value, one.edge, gradient)


def _outputs(
    recording: Recording,
    node: NodeRecord,
    function: FunctionRecord,
    step: BackwardStep | None,
    arrived: Collection[int],
) -> Iterator[OutputLine]:
    is_own = node.kind == "function"  # else it wrote into a view, and the node computes and gets those of the base
    refs = node.outputs if is_own else ()
    came: Sequence[Value | None] = step.grad_outputs if step is not None and is_own else ()
    for number, one in enumerate(function.outputs):
        written = function.arguments[one.argument].value.ref if one.argument is not None else None
        before = written if one.role == "dirty" else None
        ref = refs[number] if number < len(refs) else None
        gradient = came[number] if number < len(came) else None
        yield OutputLine(
            name=_name(recording, ref or before) or one.name or f"output {number}",
            role=role_of(function, one),
            reason=one.reason,
            value=ref,
            before=before,
            is_differentiable=not one.reason and one.role not in ("non-differentiable", "not a tensor"),
            gradient=gradient,
            is_zeros=gradient is not None and number not in arrived and function.materializes_grads,
        )


def _name(recording: Recording, ref: TensorRef | None) -> str:
    return recording.tensors[ref.tensor].name if ref is not None else ""


def role_of(function: FunctionRecord, output: OutputRecord) -> str:
    """What an output is, in words."""
    argument = f"the argument {function.arguments[output.argument].name}" if output.argument is not None else ""
    if output.role == "non-differentiable":
        return f"{argument}, {output.role}" if argument else output.role
    if output.role == "dirty":
        return f"{argument or 'an argument'} itself, dirty" + (", non-differentiable" if output.reason else "")
    if output.role == "view":
        return f"a view of {argument or 'an argument'}"
    if output.role == "returned unchanged":
        return f"{argument or 'an argument'}, returned unchanged"
    return "no tensor" if output.role == "not a tensor" else output.role


def _saved(node: NodeRecord, function: FunctionRecord, step: BackwardStep | None) -> Iterator[SavedLine]:
    outputs = {ref.tensor for ref in node.outputs if ref is not None}
    inputs = {one.value.ref.tensor for one in function.arguments if one.value.ref is not None}
    used = {(use.name, use.ref): use.version_now for use in step.saved} if step is not None else {}
    for one in node.saved:
        tensor = one.ref.tensor
        role: SavedRole = "output" if tensor in outputs else "input" if tensor in inputs else "intermediate"
        yield SavedLine(one.name, role, one, used.get((one.name, one.ref)))


def _promises(function: FunctionRecord) -> Iterator[str]:
    yield "undefined gradients become zeros" if function.materializes_grads else "undefined gradients stay None"
    if function.once_differentiable:
        yield "once_differentiable"
