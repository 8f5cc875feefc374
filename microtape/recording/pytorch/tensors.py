"""Finds what is noted of a tensor or a node, and copies values."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import torch

from microtape.recording.model.model import Summary, Value
from microtape.recording.pytorch.notes import GraphNode, SeenTensor
from microtape.recording.pytorch.reading.subclasses import PLAIN, as_plain
from microtape.recording.pytorch.reading.values import Values, same_value, shape_and_dtype

DTYPES = {one: str(one).removeprefix("torch.") for one in vars(torch).values() if isinstance(one, torch.dtype)}
"""The names of torch's dtypes."""
_NUMBERS = count()
_UNREAD: Any = (None, None, None, None, 0, 0, 0, (), ())  # what is known of elements that cannot be read


class _Reference(weakref.ref[torch.Tensor]):
    __slots__ = ("key",)
    key: int


def _forgetting(tensors: Tensors) -> Callable[[Any], None]:
    """What a reference calls when its tensor is gone; it does not keep what it tells alive, which holds it."""
    this = weakref.ref(tensors)

    def forget(reference: Any) -> None:
        tensors = this()
        if tensors is not None:
            tensors.forget(reference)

    return forget


class Tensors:
    """Finds what stands for a tensor or a node, and reads values into it."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self._known: dict[int, SeenTensor] = {}  # by id; all have an `object`
        self._forget = _forgetting(self)
        self.phase = 0  # of this segment; the next one begins with each pass and with its end
        self.running_module: Callable[[], Any] = lambda: None
        self.before_rewritten: Callable[[], None] = lambda: None  # called if a pass may have the old value
        self._key = f"microtape {next(_NUMBERS)}"  # another recorder has notes of its own

    def node(self, node: Any) -> GraphNode:
        """What stands for a node of torch's graph: one object for as long as the node lives."""
        try:
            metadata = node.metadata
        except RuntimeError:  # before torch 2.9, that of a Function whose context is gone
            return GraphNode(type(node).__name__, node._sequence_nr())
        known: GraphNode | None = metadata.get(self._key)
        if known is None:
            known = metadata[self._key] = GraphNode(type(node).__name__, node._sequence_nr())
        return known

    def find(self, tensor: torch.Tensor) -> SeenTensor | None:
        """What is known of a tensor; None if it was not seen."""
        seen = self._known.get(id(tensor))
        return seen if seen is not None and seen.object() is tensor else None  # type: ignore[misc]

    def see(self, tensor: torch.Tensor) -> SeenTensor:
        """What is known of a tensor, which is noted as it is now if it is new."""
        key = id(tensor)
        seen = self._known.get(key)
        if seen is not None and seen.object() is tensor:  # type: ignore[misc]
            return seen
        seen = unknown(tensor)
        reference = _Reference(tensor, self._forget)
        reference.key = key
        seen.object = reference
        self._known[key] = seen
        seen.requires_grad = tensor.requires_grad
        try:
            seen.is_leaf = tensor.is_leaf
        except RuntimeError:  # a view that another write has made invalid
            seen.is_leaf = False
        base = tensor._base
        if base is not None:
            seen.base = self.see(base)
        if seen.is_leaf and seen.requires_grad:
            seen.held = self._holder_of(tensor)
        return seen

    def _holder_of(self, tensor: torch.Tensor) -> tuple[weakref.ref[Any], str] | None:
        """The running module, or one of its own modules, that has this parameter, and its name there."""
        running = self.running_module()
        for module in (running, *running.children()) if running is not None else ():
            for name, one in module._parameters.items():
                if one is tensor:
                    return weakref.ref(module), name
        return None

    def note_result(self, tensor: torch.Tensor, node: GraphNode) -> bool:
        """Note a plain tensor that a node has just computed; the same as `read`, with fewer questions.

        False: it was seen before, or it is nested, and is not noted.
        """
        key, base, version = id(tensor), tensor._base, tensor._version
        known = self._known.get(key)
        if (known is not None and known.object() is tensor) or tensor.is_nested:  # type: ignore[misc]
            return False
        seen = SeenTensor(tuple(tensor.shape), DTYPES[tensor.dtype])
        seen.object = reference = _Reference(tensor, self._forget)
        reference.key = key
        self._known[key] = seen
        seen.requires_grad, seen.latest, seen.node = True, version, weakref.ref(node)
        if base is None:
            seen.values[version] = self.values.of(tensor)
        else:
            seen.base = self.see(base)
            seen.values[version] = self.copied(tensor)
        output_nr = tensor.output_nr
        if output_nr:
            seen.output_nr = output_nr
        node.outputs[output_nr] = seen, version
        return True

    def read(self, tensor: torch.Tensor) -> tuple[SeenTensor, int]:
        """What is known of a tensor, and its version, of which the value is copied if it is not known."""
        seen = self.see(tensor)
        version = seen.latest = version_of(tensor)
        if version not in seen.values:
            self.fill(seen, tensor, version)
        return seen, version

    def read_leaf(self, tensor: torch.Tensor, node: Any) -> tuple[SeenTensor, int]:
        """The same for a leaf, as a graph has it, given its AccumulateGrad.

        Since it was used, its memory may have been exchanged for that of a part of it; what it was may still be known.
        """
        shape = _shape_at(node)
        if shape is None or shape == tuple(tensor.shape):
            seen, version = self.read(tensor)
        else:
            seen, version = self.see(tensor), version_of(tensor)
            seen.latest = version
            seen.keep_earlier()
            value = seen.values.get(version)
            seen.values[version] = value if value is not None and tuple(value.shape) == shape else None
        if shape is not None:
            seen.shape = shape
        return seen, version

    def stand_ins(self) -> dict[int, SeenTensor]:
        """By the id of a parameter, the leaf that its module has held in its place when it ran.

        What is sharded is gathered into such a leaf. The parameter, whose elements cannot be read, is in no graph.
        """
        found: dict[int, SeenTensor] = {}
        for seen in self._known.values():
            module = seen.held[0]() if seen.held is not None else None
            if module is not None and seen.held is not None:
                parameter = module._parameters.get(seen.held[1])
                if parameter is not None and parameter is not seen.tensor and as_plain(parameter) is None:
                    found[id(parameter)] = seen
        return found

    def fill(self, seen: SeenTensor, tensor: torch.Tensor, version: int) -> None:
        """Note the value of a tensor at a version of which it is not known.

        A leaf may have been written to without a new version, as in `w.data -= ...` between two passes.
        """
        value = self.copied(tensor)
        if seen.earlier is not None:
            earlier, known = seen.earlier
            seen.earlier = None
            if earlier == version and isinstance(value, np.ndarray) and same_value(known, value):
                self.values.give_back(value)
                value = known
        seen.values[version], seen.read_in = value, self.phase

    def rewritten(self, tensor: torch.Tensor) -> None:
        """A leaf may have been written to without a new version: what it was is compared when it is read again.

        NB: a pass that is running keeps the old value to its end.
        """
        seen, version = self.find(tensor), version_of(tensor)
        if seen is None or not seen.is_leaf or version not in seen.values:
            return
        if seen.read_in < self.phase:
            self.before_rewritten()
        if seen.read_in >= self.phase and version in seen.values:
            seen.earlier = version, seen.values.pop(version)

    def find_received(self) -> None:
        """Find leaves whose elements are not those of their version: another process has sent them."""
        for seen in self.alive():
            tensor = seen.tensor if seen.is_leaf and seen.requires_grad else None
            if tensor is not None and self.values.differs(tensor, seen.values.get(version_of(tensor))):
                self.rewritten(tensor)

    def replaced(self, tensor: torch.Tensor) -> None:
        """A tensor was given other elements, perhaps of another shape and dtype, as `module.bfloat16()` does."""
        if (seen := self.find(tensor)) is not None:
            seen.dtype = DTYPES[tensor.dtype]
            if not seen.has_gradients:  # else a graph tells its shape
                seen.shape = tuple(tensor.size())  # a lazy one refuses `shape`
            self.rewritten(tensor)

    def copied(self, tensor: torch.Tensor) -> Value | None:
        """The value of a tensor; that of a view follows from the tensor that it views, if that has a summary."""
        base = tensor._base
        if base is not None and (seen := self.find(base)) is not None:
            self.values.note(base, seen.values.get(version_of(base)))
        return self.values.of(tensor)

    def value(self, tensor: torch.Tensor | None) -> Value | None:
        """The value of a gradient: shape and dtype alone where its elements cannot be read. None for None."""
        if tensor is None:
            return None
        found = self.values.of(tensor)
        return found if found is not None else Summary(*shape_and_dtype(tensor), *_UNREAD)

    def forget(self, reference: _Reference) -> None:
        """The tensor of a reference is gone."""
        key = reference.key
        seen = self._known.get(key)
        if seen is not None and seen.object is reference:
            seen.keep_earlier()
            del self._known[key]

    def let_go(self, tensor: Any) -> None:
        """Drop the reference to a tensor, which is new when it is seen again."""
        if isinstance(tensor, torch.Tensor) and (seen := self.find(tensor)) is not None:
            seen.keep_earlier()
            del self._known[id(tensor)]
            seen.object = None

    def begin_segment(self, *, renews: bool) -> dict[SeenTensor, dict[int, Value | None]]:
        """Keep only the newest value of each tensor, that of a leaf until it is read. Returns what the segment knows.

        The budget for copies is renewed where segments are forgotten.
        """
        before = {}
        for seen in self._known.values():
            seen.keep_earlier()
            values, seen.read_in = seen.values, 0
            before[seen] = values
            newest = values.get(seen.latest)
            seen.values = {seen.latest: newest} if newest is not None and not seen.is_leaf else {}
            seen.earlier = (seen.latest, newest) if newest is not None and seen.is_leaf else None
        if renews:
            self.values.renew()
        self.phase = 0
        return before

    def alive(self) -> list[SeenTensor]:
        """All tensors that the program keeps, as far as they were seen."""
        return list(self._known.values())


def _shape_at(node: Any) -> tuple[int, ...] | None:
    """The shape of the leaf of an AccumulateGrad when it was used; None before torch 2.5, and of a nested tensor."""
    try:
        (metadata,) = node._input_metadata
        return tuple([int(one) for one in metadata.shape])
    except Exception:
        return None


def unknown(tensor: torch.Tensor) -> SeenTensor:
    """What is known of a tensor that was not seen: its shape and dtype."""
    if type(tensor) in PLAIN and not tensor.is_nested:
        return SeenTensor(tuple(tensor.shape), DTYPES[tensor.dtype])
    return SeenTensor(*shape_and_dtype(tensor))


def tells_history(tensor: torch.Tensor) -> bool:
    """Whether torch can say where a tensor comes from; not for a view that another write has made invalid."""
    try:
        return tensor.is_leaf or tensor.grad_fn is not None
    except RuntimeError:
        return False


def grad_fn_of(tensor: torch.Tensor) -> Any:
    """The node that computed a tensor; None for a leaf, and where torch cannot say it."""
    try:
        return tensor.grad_fn
    except RuntimeError:
        return None


def version_of(tensor: torch.Tensor) -> int:
    """The tensor's version; 0 where it counts none."""
    try:
        version: int = tensor._version
        return version
    except RuntimeError:  # an inference tensor
        return 0


def storage_of(tensor: torch.Tensor | None) -> int:
    """What all views of a tensor's memory have in common; 0 for a tensor without memory of its own."""
    try:
        return int(tensor.untyped_storage()._cdata) if tensor is not None else 0
    except Exception:
        return 0


def work_together() -> bool:
    """Whether processes work together: what one receives is written into tensors without a new version."""
    return bool(torch.distributed.is_available() and torch.distributed.is_initialized())
