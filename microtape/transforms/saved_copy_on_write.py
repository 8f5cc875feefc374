"""Writing to tensors that are saved for backward: the saved value is copied before it is overwritten.

Note [Copy on write]
  While the context is active, every saved tensor is kept in a holder. Holders are listed by the memory that they refer
  to, that is, by the array that owns it. Before memory is overwritten, the holders of that memory that are still alive
  get a copy. Memory that is never overwritten is never copied. NB: torch looks at the address of a tensor's first
  element instead, and misses a write to a view that starts elsewhere: its gradient is then wrong.
"""

from __future__ import annotations

import weakref
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from microtape.tape.tensor_state import TensorState, memory_owner, new_tensor
from microtape.tape.watch import Watcher, watch
from microtape.transforms.saved_hooks import saved_tensors_hooks

OUTSIDE = (
    "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was originally "
    "recorded."
)


class _Holder:
    """Holds a saved tensor: the tensor itself until it is overwritten, from then on a copy of its former value."""

    __slots__ = ("__weakref__", "context", "is_copy", "tensor")

    def __init__(self, tensor: TensorState, context: _MutationContext) -> None:
        self.tensor, self.context, self.is_copy = tensor, context, False

    def copy(self) -> None:
        """Replace the tensor by a copy."""
        self.tensor, self.is_copy = new_tensor(type(self.tensor), self.tensor.array.copy()), True


class _MutationContext(Watcher):
    """The saved tensors inside one `allow_mutation_on_saved_tensors`; see Note [Copy on write]."""

    current: _MutationContext | None = None

    def __init__(self) -> None:
        # By the id of the array that owns the memory, which is kept alive by those holders that are not copies.
        self._holders: defaultdict[int, weakref.WeakSet[_Holder]] = defaultdict(weakref.WeakSet)

    def pack(self, tensor: TensorState) -> _Holder:
        """The pack hook."""
        holder = _Holder(tensor, self)
        self._holders[id(memory_owner(tensor.array))].add(holder)
        return holder

    def unpack(self, holder: _Holder) -> TensorState:
        """The unpack hook. Raises AssertionError once the context has been left."""
        if _MutationContext.current is not holder.context:
            raise AssertionError(OUTSIDE)
        return holder.tensor

    def clear(self) -> None:
        """Drop all saved tensors: backward through the graph recorded so far raises AssertionError."""
        nowhere = _MutationContext()
        for holder in [holder for holders in self._holders.values() for holder in holders]:
            holder.context = nowhere
        self._holders.clear()

    def writing(self, tensor: TensorState) -> None:
        """Copy the saved values of the memory that is about to be overwritten."""
        for holder in list(self._holders.get(id(memory_owner(tensor.array)), ())):
            if not holder.is_copy:
                holder.copy()


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[Any]:
    """A context in which tensors saved for backward may be written to: backward uses their former values.

    Forward and backward must both run inside; backward outside raises AssertionError. Raises RuntimeError if the
    contexts are nested.
    """
    if _MutationContext.current is not None:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    context = _MutationContext.current = _MutationContext()
    watch.join(context)
    try:
        with saved_tensors_hooks(context.pack, context.unpack):
            yield context
    finally:
        watch.leave(context)
        _MutationContext.current = None


__all__ = ["allow_mutation_on_saved_tensors"]
