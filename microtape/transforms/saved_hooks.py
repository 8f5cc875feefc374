"""Hooks on everything that operations save for backward: pack it when it is saved, unpack it when it is needed.

Note [Packing]
  The hooks watch operations. When one has been recorded, what it has saved is still there as it is; each tensor is
  given to the pack hook, and what that returns takes its place. So an operation knows nothing of hooks, and pays
  nothing for them.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from microtape.tape.node import Node
from microtape.tape.packed_tensor import Pack, PackedTensor, Unpack
from microtape.tape.saved import SavedTensor, saved_version
from microtape.tape.tensor_state import NUMBER, TensorState, new_tensor, version_number
from microtape.tape.watch import Watcher, watch


class _InForce(threading.local):
    """The hooks of this thread, the innermost last, and the message with which they are refused, if they are."""

    def __init__(self) -> None:
        self.hooks: list[saved_tensors_hooks] = []
        self.refusal: str | None = None


_in_force = _InForce()


class saved_tensors_hooks(Watcher):  # noqa: N801 - torch's name
    """A context in which `pack_hook(tensor)` decides what is kept of each tensor that an operation saves.

    `unpack_hook` gets what it returned, each time the tensor is needed, and returns a tensor with the same content. Of
    nested contexts only the innermost counts. Python numbers are not packed.

    Raises RuntimeError where hooks are disabled, and if a pack hook writes to its argument.
    """

    def __init__(self, pack_hook: Pack, unpack_hook: Unpack) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook
        self._overwritten: tuple[TensorState, TensorState] | None = None

    def __enter__(self) -> None:
        if _in_force.refusal is not None:
            raise RuntimeError(_in_force.refusal)
        if not callable(self.pack_hook) or not callable(self.unpack_hook):
            raise TypeError("saved_tensors_hooks(): pack_hook and unpack_hook must be callable")
        _in_force.hooks.append(self)
        watch.join(self)

    def __exit__(self, *_: object) -> None:
        _in_force.hooks.pop()
        watch.leave(self)

    def writing(self, tensor: TensorState) -> None:
        """Keep the value from before an in-place operation, which may turn out to have saved it."""
        if _in_force.hooks and _in_force.hooks[-1] is self:
            self._overwritten = tensor, new_tensor(type(tensor), tensor.array.copy())

    def operation(self, node: Node, operands: tuple[Any, ...], outputs: tuple[Any, ...], in_place: bool) -> None:
        """Pack what has been saved; see Note [Packing]."""
        if _in_force.hooks and _in_force.hooks[-1] is self:
            overwritten, self._overwritten = self._overwritten, None
            self._pack(holder(node), outputs, overwritten)

    def _pack(self, node: Node, outputs: Sequence[Any], overwritten: tuple[TensorState, TensorState] | None) -> None:
        """Put a PackedTensor in the place of everything that `node` has saved."""
        if not node.saved:
            return
        kept = list(node.saved)
        for index in node.saved_order or range(len(kept)):
            item = kept[index]
            if item is None or isinstance(item, PackedTensor) or getattr(item, "meta", None) is NUMBER:
                continue
            own_output = None
            if isinstance(item, SavedTensor):
                own_output = item.edge(node)
                item = as_output(node, item, outputs)
            elif version_number(item) != saved_version(node, index):  # by the very operation that saved it
                if overwritten is None or overwritten[0] is not item:
                    continue  # a view of what was overwritten: backward will say so
                item = overwritten[1]
                item.edge = node.next_edges[node.sources[index]]
            kept[index] = PackedTensor(item, own_output, self.pack_hook, self.unpack_hook)
        node.saved = tuple(kept)


def pack_with_hooks_in_force(node: Node) -> None:
    """Pack what a node that is no operation has saved, if there are hooks."""
    if _in_force.hooks:
        _in_force.hooks[-1]._pack(node, (), None)


def holder(node: Node) -> Node:
    """The node that holds what was saved: a CopySlices keeps its operation's node inside."""
    function = getattr(node, "function", node)
    return function if isinstance(function, Node) else node


def as_output(node: Node, saved: SavedTensor, outputs: Sequence[Any]) -> TensorState:
    """A saved output as the very object that the user gets, if that is among `outputs`: hooks are to see that one."""
    for output in outputs:
        if isinstance(output, TensorState) and output.array is saved.array:
            return output
    return saved.tensor(node)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """A context in which hooks on saved tensors are refused: entering one raises RuntimeError with this message."""
    if _in_force.hooks:
        raise RuntimeError(error_message)
    before, _in_force.refusal = _in_force.refusal, error_message
    try:
        yield
    finally:
        _in_force.refusal = before


class save_on_cpu(saved_tensors_hooks):  # noqa: N801 - torch's name
    """Accepted for torch's sake: everything is in the CPU's memory already. See `save_on_disk`."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: tensor, lambda tensor: tensor)


class save_on_disk(saved_tensors_hooks):  # noqa: N801 - the counterpart of torch's save_on_cpu
    """A context in which what operations save goes to files, and comes back when backward needs it.

    The files lie in `folder`, or in the system's folder for temporary files, and go with the graph.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self.folder = folder
        super().__init__(self._write, _Spilled.read)

    def _write(self, tensor: TensorState) -> _Spilled:
        return _Spilled(tensor, self.folder)


class _Spilled:
    """A tensor in a file, which is deleted with this object."""

    def __init__(self, tensor: TensorState, folder: str | os.PathLike[str] | None) -> None:
        import tempfile  # here, as few need it and it takes its time to import

        number, self.path = tempfile.mkstemp(".npy", "microtape-", folder)
        with os.fdopen(number, "wb") as file:
            np.save(file, tensor.array, allow_pickle=False)
        self.like = type(tensor)
        weakref.finalize(self, _remove, self.path)

    def read(self) -> TensorState:
        """The tensor, without history."""
        return new_tensor(self.like, np.load(self.path, allow_pickle=False))


def _remove(path: str) -> None:
    if os.path.exists(path):
        os.remove(path)


__all__ = ["disable_saved_tensors_hooks", "save_on_cpu", "save_on_disk", "saved_tensors_hooks"]
