"""The sums in the input buffers of the nodes, added up as torch's engine does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from microtape.recording.model.model import Value
from microtape.recording.pytorch.notes import GraphNode

Buffer = tuple[GraphNode, int]
Position = tuple[int, int]  # a step, and one of its deliveries

_NATIVE = {torch.float32: np.float32, torch.float64: np.float64}


class Sum:
    """What has arrived in a buffer."""

    __slots__ = ("open", "tensor", "value")

    def __init__(self, value: Value | None) -> None:
        self.value = value
        self.tensor: torch.Tensor | None = None  # the sum itself, where only torch can add
        self.open: Position | None = None  # the delivery whose sum is known only when it arrives


class Buffers:
    """Adds up what is delivered. `expected` says how many gradients each buffer gets.

    One gradient needs no addition, and the sum of two large ones is known when it arrives at the node. Small arrays of
    a dtype that numpy has are added by numpy, which rounds as torch does. Only for the rest torch adds once more.
    """

    def __init__(self, expected: Mapping[Buffer, int], value: Callable[[Any], Value | None]) -> None:
        self._expected, self._value = expected, value
        self._sums: dict[Buffer, Sum] = {}

    def sum_in(self, buffer: Buffer) -> Value | None:
        """The sum so far; None if nothing has arrived, or if it is not known."""
        found = self._sums.get(buffer)
        return found.value if found is not None else None

    def add(
        self, buffer: Buffer, gradient: Any, term: Value | None, position: Position | None = None
    ) -> tuple[Value | None, Value | None]:
        """Add a gradient, whose value is `term`; returns the sum before and after."""
        found = self._sums.get(buffer)
        if found is None:
            if gradient is not None:
                found = self._sums[buffer] = Sum(term)
                if self._expected[buffer] > 2 and not _adds_in_numpy(gradient, term):
                    found.tensor = _copy_of(gradient)
            return None, term
        before = found.value
        if gradient is None:
            return before, before
        if isinstance(before, np.ndarray) and _adds_in_numpy(gradient, term):
            with np.errstate(all="ignore"):
                total = np.asarray(np.add(before, term))  # type: ignore[arg-type]
            total.setflags(write=False)
            found.value = total
        elif found.tensor is not None:
            found.tensor = _sum_of(found.tensor, gradient)
            found.value = self._value(found.tensor)
        else:
            found.value, found.open = None, position
        return before, found.value

    def pop(self, buffer: Buffer) -> Sum | None:
        """Take what has arrived in a buffer."""
        return self._sums.pop(buffer, None)

    def clear(self) -> None:
        """Forget all sums."""
        self._sums.clear()


def _adds_in_numpy(gradient: Any, term: Value | None) -> bool:
    return isinstance(term, np.ndarray) and _NATIVE.get(gradient.dtype) == term.dtype


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
