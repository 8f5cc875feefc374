"""Where NaN and infinity begin: the moments that compute one from finite numbers, and how far each of them spreads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

import numpy as np

from microtape.recording.model.model import BackwardStep, NodeRecord, Summary, TensorRef, Value
from microtape.recording.script.until import has_nan
from tui.time.timeline import Timeline


class Origin(NamedTuple):
    """A moment that computes NaN or infinity from finite numbers, or from data that contains it."""

    moment: int
    kind: Literal["NaN", "infinity"]
    reached: tuple[int, ...]  # the later moments whose results are not finite because of it


def origins(timeline: Timeline) -> tuple[Origin, ...]:
    """The origins in a pass, in order of time."""
    search = _Search(timeline)
    for moment, node in enumerate(timeline.forward, 1):
        search.operation(moment, timeline.node(node))
    for moment, step in enumerate(timeline.steps, len(timeline.forward) + 1):
        search.step(moment, step)
    return tuple(Origin(*found, tuple(search.reached[found[0]])) for found in search.found)


class _Search:
    """Follows every value that is not finite back to the moments where it began."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self.found: list[tuple[int, Literal["NaN", "infinity"]]] = []
        self.reached: dict[int, list[int]] = {}  # origin -> the moments that it reached
        self.tensors: dict[int, set[int]] = {}  # storage that is not finite -> its origins
        self.buffers: dict[int, set[int]] = {}  # node -> the origins of the gradients that it received

    def operation(self, moment: int, node: NodeRecord) -> None:
        """Look at the results of an operation."""
        value_of = self.timeline.recording.value
        results = [value for ref in node.outputs if not is_finite(value := value_of(ref))]
        if results:
            operands = [one.ref for one in node.operands if not is_finite(value_of(one.ref))]
            causes = self._blame(moment, results, self._causes(operands), operands)
            for ref in node.outputs:
                if not is_finite(value_of(ref)):
                    self.tensors.setdefault(self._storage(ref), set()).update(causes)

    def step(self, moment: int, step: BackwardStep) -> None:
        """Look at the gradients that a step sent; of a leaf, at the gradient that it received."""
        sent = {one.node: one.term for one in step.deliveries if not is_finite(one.term)}
        node = self.timeline.node(step.node)
        is_leaf = node.variable is not None
        results = [one for one in step.grad_outputs if not is_finite(one)] if is_leaf else [*sent.values()]
        if results:
            kept = [use.ref for use in step.saved if not is_finite(use.value)]
            # log(0) = -inf, and its slope 1/0 = inf: one origin.
            known = self.buffers.get(step.node, set()) | self._causes((*kept, *node.outputs))
            causes = self._blame(moment, results, known, kept)
            for receiver in sent:
                self.buffers.setdefault(receiver, set()).update(causes)

    def _blame(
        self, moment: int, results: list[Value | None], causes: set[int], used: Iterable[TensorRef | None]
    ) -> set[int]:
        """The origins of these results: the causes, each of which has now reached this moment, else the moment.

        `used` are tensors that are not finite: if nothing is known about them, their next use is no further origin.
        """
        if not causes:
            self.found.append((moment, "NaN" if any(map(has_nan, results)) else "infinity"))
            self.reached[moment] = []
            self.tensors.update({self._storage(ref): {moment} for ref in used})
            return {moment}
        for one in causes:
            self.reached[one].append(moment)
        return causes

    def _causes(self, refs: Iterable[TensorRef | None]) -> set[int]:
        return {one for ref in refs for one in self.tensors.get(self._storage(ref), ())}

    def _storage(self, ref: TensorRef | None) -> int:
        """The tensor whose memory a tensor shares: a write through a view reaches its base."""
        if ref is None:
            return -1
        base = self.timeline.recording.tensors[ref.tensor].base
        return ref.tensor if base is None else base


def is_finite(value: Value | None) -> bool:
    """Whether a value has neither NaN nor infinity, as far as the recording knows."""
    if isinstance(value, Summary):
        return not (value.nans or value.infs)
    return value is None or value.dtype.kind not in "fc" or bool(np.isfinite(value).all())
