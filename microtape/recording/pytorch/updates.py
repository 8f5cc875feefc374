"""Writes to leaves between two passes: the steps of an optimiser, or of an update by hand."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from microtape.basics.call_site import CallSite
from microtape.recording.pytorch.notes import SeenTensor, Write, next_moment
from microtape.recording.pytorch.reading.device import Pending
from microtape.recording.pytorch.reading.values import Values
from microtape.recording.pytorch.tensors import storage_of, version_of, work_together
from microtape.recording.writing.updates import UsedGradients

_Elements = npt.NDArray[np.float64]
_MOST = 4096
_MOST_LOOKS = 256  # they are compared when somebody asks, or when there are more


_NOT_STEPPED: Any = object()


class _Sample:
    """Evenly spaced elements of a leaf, perhaps still on a device."""

    def __init__(self, taken: Any, count: int, version: int, storage: int) -> None:
        self._taken, self._count, self.version, self.storage = taken, count, version, storage
        self.moment = next_moment()

    @property
    def is_pending(self) -> bool:
        """Whether the elements have yet to be fetched."""
        return isinstance(self._taken, Pending) and self._taken.value is None

    @cached_property
    def elements(self) -> _Elements | None:
        """The elements; None if they could not be read."""
        found = self._taken.value if isinstance(self._taken, Pending) else self._taken
        if not isinstance(found, np.ndarray) or not found.size:
            return None
        wide: _Elements = found.astype(np.complex128 if found.dtype.kind == "c" else np.float64)
        return wide

    @property
    def scale(self) -> float:
        """How many elements of the leaf each of these stands for."""
        return self._count / self.elements.size if self.elements is not None else 1.0


class _Look(NamedTuple):
    """A leaf at the beginning of a pass, and when it was looked at before."""

    leaf: SeenTensor
    passes: int
    old: _Sample
    new: _Sample
    stepped: CallSite | None  # the step that has ended of an optimiser that was asked to update it, or _NOT_STEPPED
    is_undone: bool  # whether others may have undone that step: they wrote to the leaf after it
    again: CallSite | None  # the last step with a gradient that a step before has used
    written: Write | None  # the last one, if it came after `old` was read
    is_reached: bool = True  # whether a pass has reached it

    @property
    def is_received(self) -> bool:
        """Whether another process has sent what the leaf holds now, so that it is data: nothing here has written it."""
        is_written = self.stepped is not _NOT_STEPPED or self.written is not None
        return not is_written and self.old.storage == self.new.storage and work_together()

    @property
    def is_pending(self) -> bool:
        """Whether elements have yet to be fetched."""
        return self.old.is_pending or self.new.is_pending


class _Update(NamedTuple):
    leaf: SeenTensor
    passes: int
    norm: float | None
    change: float | None
    site: CallSite | None
    is_reached: bool  # whether a pass has reached the leaf
    again: CallSite | None
    is_counted: bool | None  # whether its version has risen; None: it has not changed


class Updates:
    """Compares the leaves that passes have reached with what they were; of a large one, 4,096 elements.

    The elements of a leaf on a device are fetched with the values of the next pass, and compared after it.
    """

    def __init__(self, writes: Mapping[int, Write], values: Values) -> None:
        self.writes = writes  # the last one by storage, since the last pass began
        self._values = values
        self._looks: list[_Look] = []  # that were not compared yet
        self._before: dict[SeenTensor, _Sample] = {}
        self._found: list[_Update] = []
        self._earlier: weakref.ref[Updates] | None = None  # those of the segment before, until a pass begins
        self._stepped: dict[SeenTensor, CallSite | None] = {}  # leaves that an optimiser was asked to update
        self._unreached: dict[SeenTensor, _Sample] = {}  # those that no pass has reached, as they were before the step
        self._unread: dict[SeenTensor, CallSite | None] = {}  # stepped leaves with a gradient that cannot be read
        self._after_step: dict[SeenTensor, int] = {}  # when the last step of these leaves had ended
        self._gradients = UsedGradients()
        self._again: dict[SeenTensor, CallSite | None] = {}  # leaves whose gradient a step has used once more

    def stepping(self, parameters: Sequence[tuple[SeenTensor, torch.Tensor | None]], site: CallSite | None) -> None:
        """An optimiser steps. Each of its parameters comes with its gradient.

        If a parameter stays as it is, that is worth a record.
        """
        for leaf, _ in parameters:
            if self._is_written_after_step(leaf):
                self._gradients.forget(leaf)
            self._after_step.pop(leaf, None)
        is_outermost = self._gradients.begins()
        for leaf, gradient in parameters:
            if is_outermost and gradient is not None and self._gradients.use(leaf, gradient, version_of(gradient)):
                self._again[leaf] = site
            self._stepped.setdefault(leaf, site)
            if gradient is not None and leaf not in self._before and self._sample(leaf) is None:
                self._unread.setdefault(leaf, site)
            is_new = leaf.is_leaf and leaf not in self._before and leaf not in self._unreached
            if is_new and (sample := self._sample(leaf)) is not None:
                self._unreached[leaf] = sample
        if (earlier := self._kept_earlier) is not None:
            earlier.stepping(parameters, site)

    def step_ended(self, parameters: Iterable[SeenTensor]) -> None:
        """The step of an optimiser with these parameters has ended."""
        self._gradients.ended()
        self._after_step.update(dict.fromkeys(parameters, next_moment()))
        if (earlier := self._kept_earlier) is not None:
            earlier.step_ended(parameters)

    def let_go(self) -> None:
        """Hold no reference to a gradient, and forget that a step has used it."""
        self._gradients.clear()
        if (earlier := self._kept_earlier) is not None:
            earlier.let_go()

    @property
    def _running(self) -> dict[SeenTensor, CallSite | None]:
        """The leaves of steps that have not ended: the pass that begins now may be in the closure of one."""
        return {leaf: site for leaf, site in self._stepped.items() if leaf not in self._after_step}

    @property
    def _kept_earlier(self) -> Updates | None:
        """Those of the segment before, if it was not forgotten."""
        return self._earlier() if self._earlier is not None else None

    def next_segment(self, passes: int) -> Updates:
        """The updates of the next segment, of the same leaves. Those of this one end when the next pass begins."""
        following = Updates(self.writes, self._values)
        following._before, following._earlier = dict(self._before), weakref.ref(self)
        following._stepped, following._after_step = dict(self._stepped), dict(self._after_step)  # by a hook of the pass
        following._unreached = dict(self._unreached)
        return following

    def _close(self, passes: int) -> None:
        """Note the updates since the last look, and none any more."""
        if (earlier := self._kept_earlier) is not None:
            earlier._close(passes)
        self._earlier = None
        self._look([*self._before], passes)
        self._before = {}

    def pass_began(self, leaves: Iterable[SeenTensor], passes: int) -> None:
        """Note the updates since the last look, and look at these leaves. `passes`: how many had begun before."""
        if (earlier := self._kept_earlier) is not None:
            earlier._close(passes)
        self._earlier = None
        if len(self._looks) > _MOST_LOOKS:
            self._compare()
        self._look([*self._before], passes)
        for leaf in leaves:
            if leaf not in self._before and (sample := self._sample(leaf)) is not None:
                self._before[leaf] = sample
                self._unreached.pop(leaf, None)

    def look_again(self) -> Callable[[], Sequence[torch.Tensor]]:
        """Look at the leaves at the end of a pass. What is returned tells, once all is fetched, which have changed."""
        looks = [(leaf, old, new) for leaf, old in self._before.items() if (new := self._sample(leaf)) is not None]

        def changed() -> Sequence[torch.Tensor]:
            found = [leaf.tensor for leaf, old, new in looks if _differ(old.elements, new.elements)]
            return [one for one in found if one is not None]

        return changed

    def _look(self, leaves: Iterable[SeenTensor], passes: int) -> None:
        running = self._running
        for leaf in leaves:
            sample = self._sample(leaf)
            if sample is None:
                del self._before[leaf]
                continue
            old, self._before[leaf] = self._before[leaf], sample
            stepped = self._stepped.get(leaf, _NOT_STEPPED) if leaf not in running else _NOT_STEPPED
            written, is_undone = self._written_since(old.moment, leaf), self._is_written_after_step(leaf)
            again = self._again.get(leaf)
            self._looks.append(_Look(leaf, passes, old, sample, stepped, is_undone, again, written))
        for leaf, old in self._unreached.items():
            sample = self._sample(leaf)
            if sample is not None and leaf not in running:
                site, is_undone, again = self._stepped[leaf], self._is_written_after_step(leaf), self._again.get(leaf)
                self._looks.append(_Look(leaf, passes, old, sample, site, is_undone, again, None, is_reached=False))
        for leaf, site in self._unread.items():  # it has moved, nobody knows how far
            self._found.append(_Update(leaf, passes, None, None, site, True, self._again.get(leaf), None))
        self._unread.clear()
        self._stepped = running
        self._unreached = {leaf: old for leaf, old in self._unreached.items() if leaf in running}
        self._after_step.clear()
        self._again.clear()
        self._gradients.clear()

    def _written_since(self, moment: int, leaf: SeenTensor) -> Write | None:
        """The last write into the leaf's memory, if it came after this moment."""
        written = self.writes.get(storage_of(leaf.tensor))
        return written if written is not None and written.moment > moment else None

    def _is_written_after_step(self, leaf: SeenTensor) -> bool:
        moment = self._after_step.get(leaf)
        return moment is not None and self._written_since(moment, leaf) is not None

    def _compare(self) -> None:
        """Compare what was seen in the last looks; elements that are yet to be fetched later."""
        looks, self._looks = self._looks, []
        for one in looks:
            if one.is_pending:
                self._looks.append(one)
                continue
            if one.old.elements is None or one.new.elements is None:
                continue
            old, new, scale = one.old.elements, one.new.elements, one.old.scale
            written = one.written.site if one.written is not None else None
            if _differ(old, new):
                if one.is_received:
                    continue
                norm, change = _norm(old, scale), _norm(new - old, scale) if old.shape == new.shape else None
                site = written if one.stepped in (None, _NOT_STEPPED) else one.stepped
                is_counted = one.new.version != one.old.version
                self._found.append(
                    _Update(one.leaf, one.passes, norm, change, site, one.is_reached, one.again, is_counted)
                )
            elif one.leaf.is_leaf and (one.stepped is not _NOT_STEPPED or one.written is not None):
                is_step = one.stepped is not _NOT_STEPPED
                change = 0.0 if is_step and not one.is_undone else None
                site = one.stepped if is_step else written
                norm = _norm(new, scale)
                self._found.append(_Update(one.leaf, one.passes, norm, change, site, one.is_reached, one.again, None))

    def _sample(self, leaf: SeenTensor) -> _Sample | None:
        """Evenly spaced elements of a leaf."""
        tensor = leaf.tensor
        taken = self._values.sample_of(tensor, _MOST) if tensor is not None else None
        if tensor is None or taken is None:
            return None
        return _Sample(taken, tensor.numel(), version_of(tensor), storage_of(tensor))

    def settled(self, passes: int) -> Sequence[_Update]:
        """All updates until now; those that are open end here."""
        self._look([*self._before], passes)
        self._values.fetch()
        self._compare()
        return self._found


def _differ(one: _Elements | None, other: _Elements | None) -> bool:
    """Whether two samples of a leaf are known and have other elements."""
    return one is not None and other is not None and (one.shape != other.shape or one.tobytes() != other.tobytes())


def _norm(sample: _Elements, scale: float) -> float | None:
    with np.errstate(all="ignore"):
        found = float(np.linalg.norm(sample)) * math.sqrt(scale)
    return found if math.isfinite(found) else None
