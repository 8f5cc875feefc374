"""Hooks on the tensors that operations save for backward: packed when saved, unpacked when needed.

Note [Packing]
  The hooks are observers of operations. After an operation has been recorded, they replace each tensor that it has
  saved by the value that the pack hook returns for it; for the operands of an in-place operation they do so before it
  writes. Operations themselves know nothing of hooks, and cost nothing more without them.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from microtape.tape.grad_mode import mode
from microtape.tape.node import Edge, Node
from microtape.tape.packed_tensor import Pack, PackedTensor, Unpack
from microtape.tape.saved import SavedTensor
from microtape.tape.tangents import set_tangent, tangent_of, without_tangents
from microtape.tape.tensor_state import NUMBER, TensorState, new_tensor
from microtape.tape.watch import Watcher, watch

NO_HOOKS = "saved_tensors_hooks: __exit__ was called, but no hooks are in force on this thread"


class saved_tensors_hooks:  # noqa: N801 - torch's name
    """A context in which the graph keeps `pack_hook(tensor)`, any object, in place of each tensor that is saved.

    Each time the tensor is needed, `unpack_hook` is given that object and returns a tensor of the same shape, dtype and
    content. Of nested contexts only the innermost applies. Python numbers are not packed.

    Raises TypeError for hooks that are not callable; RuntimeError on entering if hooks are disabled, on leaving if this
    thread has no hooks, and if a pack hook writes to its argument.
    """

    def __init__(self, pack_hook: Pack, unpack_hook: Unpack) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        if mode.saved_hooks_refusal is not None:
            raise RuntimeError(mode.saved_hooks_refusal)
        if not callable(self.pack_hook) or not callable(self.unpack_hook):
            raise TypeError("saved_tensors_hooks(): pack_hook and unpack_hook must be callable")
        hooks = _Packer(self.pack_hook, self.unpack_hook)
        mode.saved_hooks = (*mode.saved_hooks, hooks)
        watch.join(hooks)

    def __exit__(self, *_: object) -> None:
        """Take the innermost hooks of this thread out of force: as in torch, not necessarily those entered here."""
        if not mode.saved_hooks:
            raise RuntimeError(NO_HOOKS)
        *others, hooks = mode.saved_hooks
        mode.saved_hooks = tuple(others)
        watch.leave(hooks)


class _Packer(Watcher):
    """The hooks of one `saved_tensors_hooks` that was entered; see Note [Packing]."""

    def __init__(self, pack_hook: Pack, unpack_hook: Unpack) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook
        self._operands: tuple[Node | None, Sequence[Any]] = None, ()  # packed before the node has written

    def operands_saved(self, node: Node, written: TensorState) -> None:
        """Pack the operands of an in-place operation while they have the values that it saves."""
        if self is innermost_hooks():
            self._operands = node, self.packed_by(node, (), written)

    def operation(self, node: Node, operands: tuple[Any, ...], outputs: tuple[Any, ...], in_place: bool) -> None:
        """Pack the tensors that `node` has saved. Those of a Function are packed once its `jvp` has run."""
        saver = saving_node(node)
        if self is innermost_hooks() and saver.kind != "function" and saver.saved:
            saver.saved = self.packed_by(saver, outputs)
            node.ensure_hooks()  # so that the engine knows that `node` runs user code

    def called(self, node: Node, args: tuple[Any, ...], raw: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        """Pack the tensors that a Function has saved."""
        if self is innermost_hooks():
            node.saved = self.packed_by(node, outputs)

    def packed_by(self, node: Node, outputs: Sequence[Any], written: TensorState | None = None) -> tuple[Any, ...]:
        """What `node` has saved, with PackedTensors in the place of the tensors.

        If it is still about to overwrite `written`, only its operands are packed.
        """
        (of, before), self._operands = self._operands, (None, ())
        kept = list(before if of is node else node.saved or ())
        for index in node.saved_order or range(len(kept)):
            item = kept[index]
            if item is None or isinstance(item, PackedTensor) or getattr(item, "meta", None) is NUMBER:
                continue
            own_output = None
            if isinstance(item, SavedTensor):
                if written is not None:
                    continue
                own_output = item.edge(node)
                item = _as_output(node, item, outputs)
            elif written is not None and np.may_share_memory(item.array, written.array):
                item = _copy(item, node.next_edges[node.sources[index]])
            kept[index] = PackedTensor(node, item, own_output, self.pack_hook, self.unpack_hook)
        return tuple(kept)


def innermost_hooks() -> _Packer | None:
    """The hooks in force on this thread."""
    return mode.saved_hooks[-1] if mode.saved_hooks else None


def pack_with_active_hooks(node: Node) -> None:
    """Pack the saved tensors of a node that is not an operation, if hooks are active."""
    hooks = innermost_hooks()
    if hooks is not None:
        node.saved = hooks.packed_by(node, ())


def saving_node(node: Node) -> Node:
    """The node that holds the saved tensors: a CopySlices contains that of its operation."""
    function = getattr(node, "function", node)
    return function if isinstance(function, Node) else node


def _as_output(node: Node, saved: SavedTensor, outputs: Sequence[Any]) -> TensorState:
    """A saved output for the pack hook: the tensor that the user gets, if it is among `outputs`, or else a new one."""
    for output in outputs:
        if isinstance(output, TensorState) and output.array is saved.array:
            return output
    return saved.tensor(node)


def _copy(operand: TensorState, edge: Edge) -> TensorState:
    """A copy of an operand that is about to be overwritten, with its tangent. NB: torch's hooks get the operand."""
    copy = new_tensor(type(operand), operand.array.copy(), edge)
    tangent: Any = tangent_of(operand)
    if tangent is not None:
        with without_tangents():
            set_tangent(copy, tangent.clone())
    return copy


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """A context without hooks on saved tensors: entering one inside, or this one inside hooks, raises RuntimeError."""
    if mode.saved_hooks:
        raise RuntimeError(error_message)
    before, mode.saved_hooks_refusal = mode.saved_hooks_refusal, error_message
    try:
        yield
    finally:
        mode.saved_hooks_refusal = before


class save_on_cpu(saved_tensors_hooks):  # noqa: N801 - torch's name
    """Exists for compatibility with torch: all tensors are in the CPU's memory already. See `save_on_disk`."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: tensor, lambda tensor: tensor)


class save_on_disk(saved_tensors_hooks):  # noqa: N801 - the counterpart of torch's save_on_cpu
    """A context in which saved tensors are written to files, and read when backward needs them.

    The files are in `folder`, by default the system's folder for temporary files, and are deleted with the graph.
    Raises OSError if a file cannot be written.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self.folder = folder
        super().__init__(self._write, _Spilled.read)

    def _write(self, tensor: TensorState) -> _Spilled:
        return _Spilled(tensor, self.folder)


class _Spilled:
    """A tensor in a file that is deleted with this object."""

    def __init__(self, tensor: TensorState, folder: str | os.PathLike[str] | None) -> None:
        import tempfile  # here, as importing it takes long and few programs need it

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
