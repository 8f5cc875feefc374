"""Large arrays whose memory is copied while the program runs, and summarised when somebody asks.

To copy takes a third of the time of a summary, and most of what a loop records is never looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from microtape.recording.model.model import Summary
from microtape.recording.model.summary import reshaped, summarize
from microtape.recording.pytorch.reading.device import Pending, Quietly
from microtape.recording.pytorch.reading.memory import Layout

_Array = npt.NDArray[Any]


class LaterSummary(Pending):
    """The summary of a large array. The copy is dropped when the summary is made."""

    __slots__ = ("_made", "_make", "_raw")

    def __init__(self, raw: _Array, make: Callable[[], Summary]) -> None:
        self._raw, self._make = raw, make
        self._made: Summary | None = None

    @classmethod
    def of(cls, raw: _Array, layout: Layout) -> LaterSummary:
        """Of an array with this layout, and with this copy of its memory."""
        return cls(raw, lambda: summarize(layout.decoded(raw))._replace(dtype=layout.name))

    def as_view(self, layout: Layout, strides: Sequence[int], is_alike: bool) -> LaterSummary:
        """Of a view of the same elements; one that `is_alike` has the same picture."""
        if is_alike:
            return type(self)(self._raw, lambda: self.value._replace(shape=layout.shape))
        flat = self._raw.ravel(order="K")
        steps = [stride * flat.itemsize for stride in strides]
        raw: _Array = np.ndarray(layout.shape, flat.dtype, flat, strides=steps)
        return type(self)(self._raw, lambda: reshaped(self.value, layout.decoded(raw)))

    @property
    def value(self) -> Summary:  # type: ignore[override]
        """The summary."""
        if self._made is None:
            with Quietly(), torch.inference_mode(False):
                self._made = self._make()
            del self._make, self._raw
        return self._made
