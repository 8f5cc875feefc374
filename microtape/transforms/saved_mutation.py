"""Writing to tensors that are saved for backward: the value is copied before it goes.

Note [Copy before write]
  While the context is in force, what an operation saves is kept in a holder, and the holders are listed by the memory
  they look at: its version counter and the version. Before memory is overwritten, every holder of its present version
  that is still alive gets a copy; the others never pay for one.
"""

from __future__ import annotations

import weakref
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from microtape.tape.tensor_state import TensorState, ensure_version, new_tensor
from microtape.tape.watch import Watcher, watch
from microtape.transforms.saved_hooks import saved_tensors_hooks

OUTSIDE = (
    "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was originally "
    "recorded."
)


class _Holder:
    """A saved tensor: itself until it is overwritten, then a copy of what it was."""

    __slots__ = ("__weakref__", "context", "tensor", "version")

    def __init__(self, tensor: TensorState, context: MutationContext) -> None:
        self.tensor, self.context = tensor, context
        self.version: int | None = ensure_version(tensor).number  # None: a copy

    def copy(self) -> None:
        """Let go of the memory."""
        self.tensor, self.version = new_tensor(type(self.tensor), self.tensor.array.copy()), None


class MutationContext(Watcher):
    """Who keeps what, while `allow_mutation_on_saved_tensors` is in force; see Note [Copy before write]."""

    current: MutationContext | None = None

    def __init__(self) -> None:
        self._holders: defaultdict[int, weakref.WeakSet[_Holder]] = defaultdict(weakref.WeakSet)

    def pack(self, tensor: TensorState) -> _Holder:
        """The pack hook."""
        holder = _Holder(tensor, self)
        self._holders[id(tensor.version)].add(holder)
        return holder

    def unpack(self, holder: _Holder) -> TensorState:
        """The unpack hook. Raises AssertionError once the context has been left."""
        if MutationContext.current is not holder.context:
            raise AssertionError(OUTSIDE)
        return holder.tensor

    def clear(self) -> None:
        """Let go of all that is kept: what has been recorded so far has no backward any more."""
        nowhere = MutationContext()
        for holder in [holder for holders in self._holders.values() for holder in holders]:
            holder.context = nowhere
        self._holders.clear()

    def writing(self, tensor: TensorState) -> None:
        """Copy what is saved of the memory that is about to be overwritten."""
        version = ensure_version(tensor)
        for holder in list(self._holders.get(id(version), ())):
            if holder.version == version.number:
                holder.copy()


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[Any]:
    """A context in which tensors that are saved for backward may be written to: backward sees them as they were.

    Forward and backward must both run inside. Raises RuntimeError if it is entered inside of itself.
    """
    if MutationContext.current is not None:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    context = MutationContext.current = MutationContext()
    watch.join(context)
    try:
        with saved_tensors_hooks(context.pack, context.unpack):
            yield context
    finally:
        watch.leave(context)
        MutationContext.current = None


__all__ = ["allow_mutation_on_saved_tensors"]
