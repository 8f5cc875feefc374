"""Writes a recording of an engine that is not ours: the engine tells the writer what it does, call by call.

Nothing is computed here. What the engine says is what the recording shows, so that a wrong engine shows its wrong
deliveries.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Hashable, Sequence
from functools import cache
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from microtape.basics.call_site import CallSite, user_frame
from microtape.basics.fresh_stack import calling_frame
from microtape.errors import RecordingError
from microtape.recording.model.formatting import format_value
from microtape.recording.model.formula import parse_formula
from microtape.recording.model.model import (
    EdgeRecord,
    NodeRecord,
    Operand,
    Pass,
    Place,
    Recording,
    TensorRecord,
    TensorRef,
    Value,
)
from microtape.recording.model.options import OWN_ENGINE
from microtape.recording.writing.copies import frozen
from microtape.recording.writing.names.sources import Sources
from microtape.recording.writing.names.variable_names import Held, tensors_in_frames
from microtape.recording.writing.written_pass import WrittenPass
from microtape.tape.node import Node

_LONGEST = 60  # characters of a number in a message
_BACKWARD = "Backward0"  # how the names of the built-in operations' nodes end
_ALSO = {"MmBackward0": "matmul"}  # the operation, where the node is called otherwise


class RecordingWriter:
    """Writes down what an engine of your own does, as a recording for the stepper, the pictures and the comparison.

    Every number is named by something hashable: its name, or the object that stands for it in your engine. A name is
    shown as it is; for an object, the variable of your program that holds it when backward begins, or at the end.

    Args:
        title: the title of the recording.
    """

    def __init__(self, title: str = "an engine of your own") -> None:
        self._title = title
        self._sources = Sources()
        self._tensors: dict[Hashable, _Tensor] = {}
        self._nodes: list[NodeRecord] = []
        self._passes: list[Pass] = []
        self._open: WrittenPass | None = None
        self._names: dict[int, dict[str, None]] = {}  # id of an object -> the variables that held it

    def leaf(self, leaf: Hashable, value: Any) -> None:
        """A number that no operation computed."""
        self._end()
        self._tensors[leaf] = _Tensor(len(self._tensors), frozen(value))

    def operation(self, result: Hashable, operation: str, operands: Sequence[Any], value: Any) -> None:
        """An operation has computed `value`. An operand that was never written is a constant."""
        self._end()
        edges, records = [], []
        for operand in operands:
            tensor = self._tensors.get(operand) if _is_hashable(operand) else None
            node = None if tensor is None else self._node_of(tensor)
            edges.append(EdgeRecord(node, 0))
            records.append(Operand(None if tensor is None else tensor.ref, str(operand) if tensor is None else ""))
        made = self._tensors[result] = _Tensor(len(self._tensors), frozen(value), is_leaf=False)
        made.node = self._append(operation, tuple(records), (made.ref,), tuple(edges), place=self._place())

    def begin(self, root: Hashable, gradient: Any = 1.0) -> None:
        """Backward begins at `root` with this first gradient."""
        self._end()
        tensor = self._known(root)
        node = self._node_of(tensor)
        self._look_for_names(_program_frame())
        first = frozen(gradient)
        grads = {one.number: one.grad for one in self._tensors.values() if one.grad is not None}
        self._open = WrittenPass(len(self._passes), self._place(), node, tensor.ref, first, self._nodes, grads)

    def run(self, result: Hashable, gradient: Any) -> None:
        """A row of the tape runs: it takes `gradient`, the sum of what has arrived. Deliveries of this row follow."""
        self._pass().start(self._node_of(self._known(result)), frozen(gradient))

    def deliver(self, operand: Hashable, gradient: Any, total: Any) -> None:
        """The running row sends a gradient to one of its operands, where the sum is now `total`."""
        node = self._node_of(self._known(operand))
        try:
            self._pass().deliver(node, frozen(gradient), frozen(total))
        except LookupError:
            raise RecordingError(
                f"{self._named(operand)} is no operand of the row that runs, or has its gradient from it already"
            ) from None

    def keep(self, leaf: Hashable, grad: Any) -> None:
        """The `.grad` of a leaf is now `grad`."""
        tensor, grad = self._known(leaf), frozen(grad)
        self._pass().keep(self._node_of(tensor), tensor.grad, grad)
        tensor.grad = grad

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the recording to a `.tape` file, which `microtape step` opens."""
        self.recording.save(path)

    @property
    def recording(self) -> Recording:
        """The recording so far."""
        self._end()
        self._look_for_names(user_frame(sys._getframe()))
        return Recording(
            title=self._title,
            nodes=tuple(self._nodes),
            tensors=tuple(one.record(self._names_of(key)) for key, one in self._tensors.items()),
            passes=tuple(self._passes),
            sources=self._sources.texts(),
            options={OWN_ENGINE: True},
        )

    def _look_for_names(self, frame: FrameType | None) -> None:
        """Note which variables of the program hold the engine's objects now."""
        objects = {id(key) for key in self._tensors if not isinstance(key, str)}
        if objects:
            for name, value in tensors_in_frames(frame, Held(lambda one: id(one) in objects, lambda *_: None)):
                self._names.setdefault(id(value), {})[name] = None

    def _names_of(self, key: Hashable) -> tuple[str, ...]:
        return (key,) if isinstance(key, str) else tuple(self._names.get(id(key), ()))

    def _pass(self) -> WrittenPass:
        if self._open is None:
            raise RecordingError("no backward is running: call `begin` first")
        return self._open

    def _end(self) -> None:
        """The pass is over when something else follows."""
        if self._open is not None:
            self._passes.append(self._open.finish())
            self._open = None

    def _known(self, key: Hashable) -> _Tensor:
        found = self._tensors.get(key)
        if found is None:
            raise RecordingError(f"{self._named(key)} is unknown: it needs a call of `leaf` or `operation` first")
        return found

    def _named(self, key: Hashable) -> str:
        """A number in words: its name, else its value."""
        self._look_for_names(_program_frame())
        tensor = self._tensors.get(key)
        if isinstance(key, str) or (tensor is None and type(key).__repr__ is not object.__repr__):
            return repr(key)[:_LONGEST]
        if names := self._names_of(key):
            return names[0]
        if tensor is None:
            return f"an object of {type(key).__name__}"
        return f"the number {format_value(tensor.value, _LONGEST)}"

    def _node_of(self, tensor: _Tensor) -> int:
        """The number of the node that computed a number; a leaf's stands on the tape from its first use on."""
        if tensor.node is None:
            tensor.node = self._append("accumulate", (), (), (), variable=tensor.number)
        return tensor.node

    def _append(
        self,
        operation: str,
        operands: tuple[Operand, ...],
        outputs: tuple[TensorRef, ...],
        edges: tuple[EdgeRecord, ...],
        *,
        place: Place | None = None,
        variable: int | None = None,
    ) -> int:
        known = _known_operations().get(operation)
        counted = sum(one.variable is None for one in self._nodes)
        record = NodeRecord(
            id=len(self._nodes),
            name="AccumulateGrad" if variable is not None else known.name if known else f"{operation}Backward",
            op=operation,
            kind="operation" if variable is None else "accumulate",
            formula=known.formula if known is not None and known.operands == len(operands) else "",
            place=place,
            sequence_nr=counted if variable is None else None,
            operands=operands,
            outputs=outputs,
            edges=edges,
            saved=(),
            variable=variable,
            in_place=False,
            pass_=None,
            made_by=None,
            hooks=(),
        )
        self._nodes.append(record)
        return record.id

    def _place(self) -> Place | None:
        """The line of the program that uses the engine."""
        frame = _program_frame()
        return None if frame is None else self._sources.place(CallSite(frame.f_code, frame.f_lasti))


def _program_frame() -> FrameType | None:
    """The frame of the program that uses the engine: the innermost one outside of the file that calls the writer.

    Where all is in one file, it is that of the module.
    """
    frame = user_frame(sys._getframe(1))
    engine = frame.f_code.co_filename if frame is not None else None
    while frame is not None and frame.f_code.co_filename == engine and frame.f_code.co_name != "<module>":
        outer = user_frame(calling_frame(frame))
        if outer is None:
            break
        frame = outer
    return frame


class _Tensor:
    """A number of the engine."""

    def __init__(self, number: int, value: Value, *, is_leaf: bool = True) -> None:
        self.number, self.value, self.is_leaf = number, value, is_leaf
        self.ref = TensorRef(number, 0)
        self.node: int | None = None
        self.grad: Value | None = None

    def record(self, names: tuple[str, ...]) -> TensorRecord:
        return TensorRecord(
            id=self.number,
            names=names,
            shape=self.value.shape,
            dtype=str(self.value.dtype),
            requires_grad=True,
            is_leaf=self.is_leaf,
            node=self.node,
            output_nr=0,
            base=None,
            retains_grad=False,
            hooks=(),
            values={0: self.value},
            grad=self.grad,
        )


class _Known(NamedTuple):
    """What our own engine knows of an operation of the same name."""

    name: str
    formula: str
    operands: int


@cache
def _known_operations() -> dict[str, _Known]:
    """Our own operations by their short names, for the names of nodes and the formulas."""
    found: dict[str, _Known] = {}
    waiting: list[Any] = [Node]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        formula = getattr(kind, "formula", "")
        if kind.__name__.endswith(_BACKWARD) and isinstance(formula, str):
            word = _ALSO.get(kind.__name__) or kind.__name__.removesuffix(_BACKWARD).lower()
            known = _Known(kind.__name__, formula, len(parse_formula(formula).gradients) if formula else 0)
            if word not in found or len(formula) < len(found[word].formula):  # `z = x + α · y` is an addition as well
                found[word] = known
    return found


def _is_hashable(operand: Any) -> bool:
    try:
        hash(operand)
    except TypeError:
        return False
    return not isinstance(operand, int | float | np.ndarray)
