"""Records of the user's own functions that the engine calls: what happened inside, and what a Function promised.

A *call* is one run of such a function: the forward or backward of a custom Function, a hook, the recomputation of a
checkpoint. Its *steps* are the operations in it, in order, and its end.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from microtape.recording.model.parts import ErrorRecord, Operand, Place

CallKind: TypeAlias = Literal[
    "forward",
    "setup_context",
    "backward",  # or `vjp`
    "jvp",
    "tensor hook",
    "node pre-hook",
    "node post-hook",
    "post-accumulate hook",
    "pack hook",
    "unpack hook",
    "recomputation",  # of a checkpointed region, during backward
]

CallStepKind: TypeAlias = Literal[
    "enter",  # the function begins: its variables are its arguments
    "operation",
    "unpack",  # `ctx.saved_tensors` was read: the outputs are the saved tensors
    "call",  # another call: of a Function inside of this one, of an unpack hook
    "pass",  # backward was called in here
    "return",  # the outputs are the returned values
    "raise",
]


class Variable(NamedTuple):
    """A local variable of the user's function, or an attribute of ctx (`ctx.scale`)."""

    name: str
    value: Operand


class CallStep(NamedTuple):
    """One thing that happened in a call."""

    kind: CallStepKind
    op: str  # "mul", "saved_tensors"; the name of the function that was called
    place: Place | None  # in the user's function, or in a function that it calls
    operands: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    in_place: bool  # the operation wrote into its first operand
    variables: tuple[Variable, ...]  # of the function at `place`, right before its result is assigned
    node: int | None  # the node that was recorded for the operation (a recomputation, create_graph)
    inner: int | None  # the call, an index into `Recording.calls`, or the pass, its `index`


class CallRecord(NamedTuple):
    """One run of a function of the user's that the engine called."""

    id: int
    kind: CallKind
    name: str  # "Clip.backward", "clip_gradient"
    node: int | None  # the node of the Function, or the one whose hook or saved tensor it is
    pass_: int | None  # the pass (its `index`) during which it ran
    step: int | None  # the index of the step of that pass; one too many for a hook on a gradient that `grad()` kept
    outer: int | None  # the call during which it ran, an index into `Recording.calls`
    place: Place | None  # the line of its `def`; None for a function that is not written in Python
    steps: tuple[CallStep, ...]  # with a budget: the first ones and the last ones
    left_out: int  # how many steps are missing in front of step number `left_out_at`
    left_out_at: int
    error: ErrorRecord | None


class ArgumentRecord(NamedTuple):
    """An argument of a Function's call."""

    name: str  # the parameter of forward: "x"; for `*args`, "args[0]"
    value: Operand  # as it was before the call
    needs_gradient: bool  # its entry in `ctx.needs_input_grad`
    edge: int | None  # which of the node's edges its gradient takes; None for an argument that is no tensor


OutputRole: TypeAlias = Literal[
    "differentiable", "non-differentiable", "dirty", "view", "returned unchanged", "not a tensor"
]


class OutputRecord(NamedTuple):
    """An output of a Function's call."""

    name: str  # the variable of forward that held it when it returned; may be empty
    role: OutputRole
    argument: int | None  # for "dirty", "view" and "returned unchanged": which argument; None if unknown
    reason: str  # why it gets no gradient: "mark_non_differentiable" or its dtype; empty if it does get one


class FunctionRecord(NamedTuple):
    """What one recorded call of a custom Function promised to autograd."""

    node: int
    arguments: tuple[ArgumentRecord, ...]
    outputs: tuple[OutputRecord, ...]
    attributes: tuple[Variable, ...]  # of ctx, when forward had run
    materializes_grads: bool  # undefined gradients reach backward as zeros
    once_differentiable: bool
