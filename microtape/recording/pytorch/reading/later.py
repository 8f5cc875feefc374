"""Large arrays whose memory is copied while the program runs, and summarised when somebody asks.

To copy takes a third of the time of a summary, and most of what a loop records is never looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from microtape.recording.model.model import Summary, Value
from microtape.recording.model.summary import has_nan, reshaped, summarize
from microtape.recording.pytorch.reading.device import Pending, Quietly
from microtape.recording.pytorch.reading.memory import Layout

_Array = npt.NDArray[Any]


class LaterSummary(Pending):
    """The summary of a large array, or the array itself if that is asked for before the copy is dropped."""

    __slots__ = ("_elements", "_raw", "_summarise", "_summary", "_whole")

    def __init__(self, raw: _Array, elements: Callable[[], _Array], summarise: Callable[[], Summary]) -> None:
        self._raw: _Array | None = raw
        self._elements: Callable[[], _Array] | None = elements
        self._summarise: Callable[[], Summary] | None = summarise
        self._summary: Summary | None = None
        self._whole: _Array | None = None

    @classmethod
    def of(cls, raw: _Array, layout: Layout) -> LaterSummary:
        """Of an array with this layout, and with this copy of its memory."""

        def elements() -> _Array:
            return layout.decoded(raw)

        return cls(raw, elements, lambda: summarize(elements())._replace(dtype=layout.name))

    def as_view(self, layout: Layout, strides: Sequence[int], is_alike: bool) -> LaterSummary | None:
        """Of a view of the same elements; one that `is_alike` has the same picture. None if the copy was dropped."""
        if self._raw is None:
            return None
        flat = self._raw.ravel(order="K")
        steps = [stride * flat.itemsize for stride in strides]
        raw: _Array = np.ndarray(layout.shape, flat.dtype, flat, strides=steps)

        def elements() -> _Array:
            return layout.decoded(raw)

        def summarise() -> Summary:
            return (
                self.summary._replace(shape=layout.shape) if is_alike else reshaped(self.summary, layout.decoded(raw))
            )

        return type(self)(self._raw, elements, summarise)

    @property
    def raw(self) -> _Array | None:
        """The copy of the memory, until it is dropped."""
        return self._raw

    @property
    def summary(self) -> Summary:
        """The summary, which is made once."""
        if self._summary is None:
            assert self._summarise is not None
            with Quietly(), torch.inference_mode(False):
                self._summary = self._summarise()
        return self._summary

    @property
    def value(self) -> Value:  # type: ignore[override]
        """The summary, or the array if it is to be kept."""
        return self.summary if self._whole is None else self._whole

    @property
    def memory(self) -> int:
        """The same for views of the same elements, until their copy is dropped."""
        return id(self._raw if self._raw is not None else self)

    @property
    def has_nan(self) -> bool:
        """Whether an element is NaN."""
        if self._elements is None or self._summary is not None:
            return has_nan(self.summary)
        with Quietly(), torch.inference_mode(False):
            return has_nan(self._elements())

    def keep_whole(self) -> None:
        """Be the array from now on, unless its copy was dropped."""
        if self._elements is not None and self._whole is None:
            with Quietly(), torch.inference_mode(False):
                self._whole = np.array(self._elements())
            self._whole.setflags(write=False)

    def drop_copy(self) -> None:
        """Be what it is now for ever."""
        _ = self.summary
        self._raw = self._elements = self._summarise = None
