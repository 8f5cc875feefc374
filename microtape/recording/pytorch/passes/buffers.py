"""The sums in the input buffers of the nodes, added up as torch's engine does.

One gradient needs no addition, and the last sum is what arrives at the node. Those between follow from the values of
the gradients, where numpy has their dtype and they were copied: it rounds as torch does. Only for the rest torch adds
once more, while the pass runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from microtape.recording.model.model import Value
from microtape.recording.pytorch.graph import NodeEdge
from microtape.recording.pytorch.passes.schedule import Schedule

_NATIVE = {torch.float32, torch.float64}
_Array = np.ndarray


def is_added_by_numpy(gradient: Any) -> bool:
    """Whether numpy adds copies of gradients of this dtype as torch adds the gradients."""
    return gradient.dtype in _NATIVE


class TorchSums:
    """Sums that only torch can add up. Those of two gradients are not added: they are known when they arrive."""

    def __init__(self, schedule: Schedule, value: Callable[[Any], Value | None]) -> None:
        self._schedule, self._value = schedule, value
        self._sums: dict[NodeEdge, torch.Tensor | None] = {}

    def add(self, buffer: NodeEdge, gradient: Any) -> Value | None:
        """Add a gradient; returns the sum, if it has to be known."""
        if buffer in self._sums:
            before = self._sums[buffer]
            total = self._sums[buffer] = _sum_of(before, gradient) if before is not None else None
            return self._value(total)
        if self._schedule.expected[buffer] > 2:
            self._sums[buffer] = _copy_of(gradient)
        return None

    def clear(self) -> None:
        """Forget all sums."""
        self._sums.clear()


class Sums:
    """The sums in the buffers, from the values of what was delivered."""

    def __init__(self) -> None:
        self._sums: dict[NodeEdge, Value | None] = {}

    def add(self, buffer: NodeEdge, term: Value | None) -> tuple[Value | None, Value | None]:
        """Add a gradient that numpy can add; returns the sum before and after."""
        total, before = term, self._sums.get(buffer)
        if term is not None and buffer in self._sums:
            total = None
            if type(before) is _Array is type(term):
                with np.errstate(all="ignore"):
                    total = np.asarray(np.add(before, term))
                total.setflags(write=False)
        return self.put(buffer, term, total)

    def put(self, buffer: NodeEdge, term: Value | None, total: Value | None) -> tuple[Value | None, Value | None]:
        """The same for a gradient that torch has added, if the sum had to be known."""
        is_first, before = buffer not in self._sums, self._sums.get(buffer)
        if term is None:  # an undefined gradient adds nothing
            return before, before
        after = self._sums[buffer] = term if is_first else total
        return before, after

    def pop(self, buffer: NodeEdge) -> Value | None:
        """Take what has arrived in a buffer; None if nothing has, or if it is not known."""
        return self._sums.pop(buffer, None)

    def sum_in(self, buffer: NodeEdge) -> Value | None:
        """What has arrived in a buffer."""
        return self._sums.get(buffer)


def _copy_of(gradient: Any) -> torch.Tensor | None:
    try:
        with torch.no_grad():
            return torch.Tensor.clone(gradient.detach())
    except Exception:
        return None


def _sum_of(before: torch.Tensor, gradient: Any) -> torch.Tensor | None:
    try:
        with torch.no_grad():
            total: torch.Tensor = before + gradient.detach()
            return total
    except Exception:
        return None
