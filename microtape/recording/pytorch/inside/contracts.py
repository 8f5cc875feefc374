"""What a call of a custom Function promised to autograd: its arguments, its outputs, the attributes of its ctx."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from microtape.recording.model.calls import ArgumentRecord, FunctionRecord, OutputRecord, Variable
from microtape.recording.model.model import Operand
from microtape.recording.pytorch.checks.again import is_once_differentiable
from microtape.recording.pytorch.inside.notebook import numbered
from microtape.recording.pytorch.tape import Tape
from microtape.recording.pytorch.tensors import DTYPES
from microtape.recording.writing.calls.function_records import Names, arguments, name_of, parameters

if TYPE_CHECKING:
    from microtape.recording.pytorch.inside.calls import TorchCall

_Function: Any = torch.autograd.Function


class FunctionNote:
    """What is known of a call of a Function; it lies with the node."""

    def __init__(
        self, calls: list[TorchCall], arguments: list[ArgumentRecord], outputs: list[OutputRecord],
        attributes: list[Variable], saved: dict[int, str], *, materializes: bool, once_differentiable: bool,
    ) -> None:  # fmt: skip
        self.calls = calls  # its forward and setup_context, and what they called
        self.saved = saved  # the names of the variables that were saved, by position
        self._arguments, self._outputs, self._attributes = arguments, outputs, attributes
        self._materializes, self._once_differentiable = materializes, once_differentiable

    def record(self, number: int, tape: Tape) -> FunctionRecord:
        """The record, with the numbers of this tape."""
        edges = len(tape.nodes[number].edges)  # of a write into a view, the node that has replaced the Function's
        return FunctionRecord(
            node=number,
            arguments=tuple([
                one._replace(
                    value=numbered(one.value, tape),
                    edge=one.edge if one.edge is not None and one.edge < edges else None,
                )
                for one in self._arguments
            ]),
            outputs=tuple(self._outputs),
            attributes=tuple([Variable(one.name, numbered(one.value, tape)) for one in self._attributes]),
            materializes_grads=self._materializes,
            once_differentiable=self._once_differentiable,
        )  # fmt: skip


def argument_records(cls: Any, args: Sequence[Any], before: Sequence[Operand]) -> list[ArgumentRecord]:
    """The arguments, as they were `before` the call."""
    names = parameters(cls.forward, len(args), has_ctx=cls.setup_context is _Function.setup_context)
    are_tensors = [isinstance(one, torch.Tensor) for one in args]
    needed = [is_tensor and one.requires_grad for one, is_tensor in zip(args, are_tensors, strict=True)]
    return arguments(names, before, are_tensors, needed)


def output_records(
    args: Sequence[Any], raw: Sequence[Any], names: Names, dirty: Sequence[Any], marked: Sequence[Any]
) -> list[OutputRecord]:
    """What each output that forward has returned is to autograd."""
    return [_output(args, one, names, dirty, marked) for one in raw]


def _output(args: Sequence[Any], value: Any, names: Names, dirty: Sequence[Any], marked: Sequence[Any]) -> OutputRecord:
    name = name_of(value, names)
    if not isinstance(value, torch.Tensor):
        return OutputRecord(name, "not a tensor", None, "")
    argument = next((i for i, one in enumerate(args) if one is value), None)
    reason = "mark_non_differentiable" if any(one is value for one in marked) else ""
    if not reason and not (value.dtype.is_floating_point or value.dtype.is_complex):
        reason = DTYPES[value.dtype]
    if any(one is value for one in dirty):
        return OutputRecord(name, "dirty", argument, reason)
    if reason:
        return OutputRecord(name, "non-differentiable", argument, reason)
    if argument is not None:
        return OutputRecord(name, "returned unchanged", argument, "")
    viewed = next((i for i, one in enumerate(args) if _shares_memory(one, value)), None)
    return OutputRecord(name, "differentiable" if viewed is None else "view", viewed, "")


def _shares_memory(argument: Any, value: torch.Tensor) -> bool:
    if not isinstance(argument, torch.Tensor) or not value.numel():
        return False
    try:
        return bool(argument.untyped_storage()._cdata == value.untyped_storage()._cdata)
    except (RuntimeError, NotImplementedError):  # a tensor without one
        return False


def is_once(cls: Any) -> bool:
    """Whether the Function's backward cannot be differentiated again."""
    return is_once_differentiable(cls.vjp if cls.vjp is not _Function.vjp else cls.backward)
