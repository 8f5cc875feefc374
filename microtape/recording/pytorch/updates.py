"""Writes to leaves between two passes: the steps of an optimiser, or of an update by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from microtape.basics.call_site import CallSite
from microtape.recording.model.model import UpdateRecord
from microtape.recording.pytorch.notes import SeenTensor
from microtape.recording.pytorch.values import sample_of
from microtape.recording.writing.sources import Sources

_Sample = npt.NDArray[np.float64]
_MOST = 4096


class _Update(NamedTuple):
    leaf: SeenTensor
    passes: int
    norm: float | None
    change: float | None
    site: CallSite | None


class Updates:
    """Compares the leaves that passes have reached with what they were; of a large one, 4,096 elements."""

    def __init__(self, sites: Mapping[int, CallSite | None]) -> None:
        self.sites = sites  # storage -> the last call that wrote into it
        self._before: dict[SeenTensor, tuple[_Sample, float]] = {}
        self._found: list[_Update] = []
        self._earlier: Updates | None = None  # those of the segment before, until a pass begins
        self._stepped: dict[SeenTensor, CallSite | None] = {}  # leaves that an optimiser was asked to update

    def stepped(self, leaf: SeenTensor, site: CallSite | None) -> None:
        """An optimiser steps, and the leaf is among its parameters: if it stays as it is, that is worth a record."""
        self._stepped.setdefault(leaf, site)
        if self._earlier is not None:
            self._earlier.stepped(leaf, site)

    def next_segment(self, passes: int) -> Updates:
        """The updates of the next segment, of the same leaves. Those of this one end when the next pass begins."""
        following = Updates(self.sites)
        following._before, following._earlier = dict(self._before), self
        return following

    def _close(self, passes: int) -> None:
        """Note the updates since the last look, and none any more."""
        if self._earlier is not None:
            self._earlier._close(passes)
            self._earlier = None
        self._look([*self._before], passes)
        self._before = {}

    def pass_began(self, leaves: Iterable[SeenTensor], passes: int) -> None:
        """Note the updates since the last look, and look at these leaves. `passes`: how many had begun before."""
        if self._earlier is not None:
            self._earlier._close(passes)
            self._earlier = None
        self._look([*self._before], passes)
        for leaf in leaves:
            if leaf not in self._before and (sample := _sample(leaf)) is not None:
                self._before[leaf] = sample

    def _look(self, leaves: Iterable[SeenTensor], passes: int) -> None:
        for leaf in leaves:
            sample = _sample(leaf)
            if sample is None:
                del self._before[leaf]
                continue
            (old, scale), (new, _) = self._before[leaf], sample
            self._before[leaf] = sample
            if old.shape != new.shape or old.tobytes() != new.tobytes():
                norm, change = _norm(old, scale), _norm(new - old, scale) if old.shape == new.shape else None
                site = self._stepped.get(leaf) or self.sites.get(_storage(leaf))
                self._found.append(_Update(leaf, passes, norm, change, site))
                self._stepped.pop(leaf, None)
        for leaf, site in self._stepped.items():
            sample = _sample(leaf)
            if leaf.is_leaf and sample is not None:
                self._found.append(_Update(leaf, passes, _norm(*sample), 0.0, site))
        self._stepped.clear()

    def records(
        self, number: Callable[[SeenTensor], int | None], sources: Sources, passes: int
    ) -> tuple[UpdateRecord, ...]:
        """The records of the updates of the leaves that have a number."""
        self._look([*self._before], passes)
        return tuple(
            UpdateRecord(tensor, sources.place(one.site) if one.site is not None else None, one.passes, one.norm,
                         one.change)
            for one in self._found
            if (tensor := number(one.leaf)) is not None
        )  # fmt: skip


def _sample(leaf: SeenTensor) -> tuple[_Sample, float] | None:
    """Evenly spaced elements of a leaf, and how many elements each of them stands for."""
    tensor = leaf.tensor
    if tensor is None:
        return None
    sample = sample_of(tensor, _MOST)
    if sample is None or not sample.size:
        return None
    return sample.astype(np.complex128 if sample.dtype.kind == "c" else np.float64), tensor.numel() / sample.size


def _norm(sample: _Sample, scale: float) -> float | None:
    with np.errstate(all="ignore"):
        found = float(np.linalg.norm(sample)) * math.sqrt(scale)
    return found if math.isfinite(found) else None


def _storage(leaf: SeenTensor) -> int:
    tensor = leaf.tensor
    return int(tensor.untyped_storage()._cdata) if tensor is not None else 0
