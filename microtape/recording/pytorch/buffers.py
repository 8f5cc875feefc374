"""The sums in the input buffers of the nodes, added up as torch's engine does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from microtape.recording.model.model import Value
from microtape.recording.pytorch.tensors import GraphNode

Buffer = tuple[GraphNode, int]
Position = tuple[int, int]  # a step, and one of its deliveries

_NATIVE = {torch.float32: np.float32, torch.float64: np.float64}


class _Sum:
    __slots__ = ("count", "open", "tensor", "value")

    def __init__(self) -> None:
        self.count = 0  # gradients that have arrived, without undefined ones
        self.value: Value | None = None
        self.tensor: torch.Tensor | None = None  # the sum itself, where only torch can add
        self.open: Position | None = None  # the delivery whose sum is known only when it arrives


class Buffers:
    """Adds up what is delivered. `expected` says how many gradients each buffer gets.

    One gradient needs no addition, and the sum of two large ones is known when it arrives at the node. Small arrays of
    a dtype that numpy has are added by numpy, which rounds as torch does. Only for the rest torch adds once more.
    """

    def __init__(self, expected: Mapping[Buffer, int], value: Callable[[Any], Value | None]) -> None:
        self._expected, self._value = expected, value
        self._sums: dict[Buffer, _Sum] = {}

    def sum_in(self, buffer: Buffer) -> Value | None:
        """The sum so far; None if nothing has arrived, or if it is not known."""
        found = self._sums.get(buffer)
        return found.value if found is not None else None

    def add(self, buffer: Buffer, gradient: Any, term: Value | None, position: Position | None = None) -> Value | None:
        """Add a gradient, whose value is `term`; returns the sum."""
        found = self._sums.setdefault(buffer, _Sum())
        if gradient is None:
            return found.value
        found.count += 1
        expected = self._expected.get(buffer, 1)
        if found.count == 1:
            found.value = term
            if expected > 2 and not _adds_in_numpy(gradient, term):
                found.tensor = _copy_of(gradient)
        elif _adds_in_numpy(gradient, term) and isinstance(found.value, np.ndarray):
            with np.errstate(all="ignore"):
                total = np.asarray(np.add(found.value, term))  # type: ignore[arg-type]
            total.setflags(write=False)
            found.value = total
        elif found.tensor is not None:
            found.tensor = _sum_of(found.tensor, gradient)
            found.value = self._value(found.tensor)
        else:
            found.value, found.open = None, position
        return found.value

    def take(self, buffer: Buffer, *, changed: bool) -> Value | None:
        """What arrives at a node, if that is the sum: hooks may have `changed` it."""
        found = self._sums.get(buffer)
        return found.value if found is not None and not changed else None

    def open_sum(self, buffer: Buffer) -> Position | None:
        """The delivery whose sum is known only now that the node has run. The buffer is empty afterwards."""
        found = self._sums.pop(buffer, None)
        return found.open if found is not None else None

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
