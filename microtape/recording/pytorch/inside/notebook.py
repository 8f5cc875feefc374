"""Values inside of calls, until a tape gives their tensors numbers: most graphs with Functions may never reach one."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

from microtape.recording.model.model import Operand, Value
from microtape.recording.pytorch.notes import SeenTensor
from microtape.recording.pytorch.reading.modes import WithoutFunctionModes
from microtape.recording.pytorch.reading.subclasses import PLAIN
from microtape.recording.pytorch.reading.values import shape_and_dtype
from microtape.recording.pytorch.tape import Tape
from microtape.recording.pytorch.tensors import Tensors, grad_fn_of, version_of
from microtape.recording.writing.faults import Faults
from microtape.recording.writing.names.constant_arguments import constant_text, shortened
from microtape.recording.writing.names.sources import Sources

_torch: Any = torch


class Noted(NamedTuple):
    """A tensor at a version, in the place of a `TensorRef`."""

    seen: SeenTensor
    version: int
    value: Value | None


class Notebook:
    """Stands for the tape while a call runs."""

    def __init__(self, tensors: Tensors, sources: Sources, faults: Faults) -> None:
        self.sources, self.faults = sources, faults
        self._tensors = tensors

    def operand_inside(self, value: Any) -> Operand:
        """A value in a function of the program's."""
        if type(value) in PLAIN:
            with WithoutFunctionModes():
                seen, version = self._unpacked(value) or self._tensors.read(value)
                self._tensors.values.clear()  # the next tensor may have the same address
            return _operand(seen, version)
        if issubclass(type(value), torch.Tensor):
            shape, _ = shape_and_dtype(value)
            return Operand(None, f"<{type(value).__name__} {'×'.join(map(str, shape)) or 'scalar'}>")
        return Operand(None, shortened(constant_text(value)))

    def _unpacked(self, tensor: torch.Tensor) -> tuple[SeenTensor, int] | None:
        """An output that its node has saved, and that is unpacked as another object than the program's."""
        if not tensor.requires_grad or self._tensors.find(tensor) is not None:
            return None
        grad_fn = grad_fn_of(tensor)
        known = self._tensors.node(grad_fn).outputs.get(tensor.output_nr) if grad_fn is not None else None
        if known is None:
            return None
        seen, version = known[0], version_of(tensor)
        if version not in seen.values:
            seen.values[version] = self._tensors.values.of(tensor)
        return seen, version

    def overwritten(self, written: Any, old: Operand) -> Operand:
        """A tensor as it was before a write."""
        return old


def _operand(seen: SeenTensor, version: int) -> Operand:
    return Operand(Noted(seen, version, seen.values.get(version)), "")  # type: ignore[arg-type]


def numbered(operand: Operand, tape: Tape) -> Operand:
    """The operand with the number of its tensor on this tape."""
    noted: Any = operand.ref
    if not isinstance(noted, Noted):
        return operand
    return Operand(tape.ref_with(noted.seen, noted.version, noted.value), "")


def version_in(tensor: Any) -> int:
    """The version of a tensor, unseen by modes."""
    with WithoutFunctionModes():
        return version_of(tensor)


def is_tensor(value: Any) -> bool:
    """Like `isinstance`, which would ask a proxy for its `__class__`."""
    return issubclass(type(value), torch.Tensor)
