"""Words for what cuts off the history of a tensor, by the kind of border."""

from __future__ import annotations

from collections.abc import Mapping

from microtape.recording.findings.wording import at
from microtape.recording.model.model import BorderKind, BorderRecord, Place, Recording

_CUTS: Mapping[BorderKind, str] = {
    "detach": "{op}()",
    "no_grad": "no_grad",
    "inference_mode": "inference mode",
    "not differentiable": "{op}, which has no derivative,",
    "not an argument": "{op}, none of whose arguments requires grad,",
    "copied": "{op}, which takes the bare value,",
    "constant": "{op}",
}
_REASONS: Mapping[BorderKind, str] = {
    "detach": "takes the result off the tape: backward treats it as a constant",
    "no_grad": "ran under {block}: its result is not on the tape",
    "inference_mode": "ran under {block}: its result is not on the tape",
    "not differentiable": "has no derivative: backward treats its result as a constant",
    "not an argument": "ran its forward off the tape, and none of its arguments requires grad",
    "copied": "takes the bare value, as a number, an array or a new tensor, without its history",
    "constant": "was computed from a value that was already off the tape",
}
_CASTS = ("to", "long", "int", "short", "char", "byte", "bool", "type")
_REMEDIES: Mapping[BorderKind, str] = {
    "detach": "Remove {op}() there, if the gradient should go through.",
    "no_grad": "Compute it outside of no_grad, if the gradient should go through.",
    "inference_mode": "Compute it outside of inference mode, if the gradient should go through.",
    "not differentiable": "Use an operation that has a derivative, such as a softmax or a sigmoid instead of {op}.",
    "not an argument": "Pass what its forward uses to {op}.apply as arguments, and return their gradients from "
    "{op}.backward.",
    "copied": "Keep the tensor: use {name} itself instead of a number, an array or a new tensor made of its value.",
    "constant": "Keep the tensors that it is computed from on the tape.",
}


def is_gradient(border: BorderRecord) -> bool:
    """Whether it is a gradient that `grad` gave without a history, because its `create_graph` is not set."""
    return border.kind == "not differentiable" and border.op == "grad"


def is_constant_gradient(recording: Recording, border: BorderRecord) -> bool:
    """Whether it is a gradient without a history although `create_graph` was set: nothing in it has one."""
    return is_gradient(border) and any(
        one.kind == "grad" and one.create_graph and one.place == border.place for one in recording.passes
    )


def cut_of(border: BorderRecord) -> str:
    """What cuts off, before "at line 3 cuts it off"."""
    if is_gradient(border):
        return "grad without create_graph"
    return ".data" if border.op == "data" else _CUTS[border.kind].format(op=border.op)


def reason_of(border: BorderRecord, block: Place | None = None) -> str:
    """Why nothing comes back from there, after the name of the operation; `block` is the one that it ran in."""
    if is_gradient(border):
        return "gives a gradient without a history, because create_graph is not set: backward treats it as a constant"
    return _REASONS[border.kind].format(block=f"the {border.kind} of {at(block)}" if block is not None else border.kind)


def remedy_for(border: BorderRecord, name: str, written: str = "") -> str:
    """What to do about a border; `name` is the tensor that it cuts off, `written` the expression at its place."""
    if is_gradient(border):
        return "Pass create_graph=True to grad, so that its result can be differentiated."
    if border.kind == "no_grad" and ".sample(" in written:
        return "Draw with rsample(), which passes gradients on. Where there is none, use log_prob of what was drawn."
    if border.kind == "not differentiable" and border.op in _CASTS:
        return "Integers have no derivative: keep the numbers as floats, or round with a straight-through estimator."
    if border.kind == "not an argument" and border.op == "CheckpointFunction":
        return "Pass use_reentrant=False, or call requires_grad_() on a tensor that goes into the checkpoint."
    if border.kind == "detach" and written and border.op not in written:  # a library does so
        return "What is called there detaches it: train what that returns, or do without that call."
    if border.op == "data":
        return f"Use {name} itself there, not its .data, if the gradient should go through."
    if border.op == "tensor":
        return f"Keep {name}: to make one tensor of several, use stack([...]), which has a derivative."
    return _REMEDIES[border.kind].format(op=border.op, name=name)
