"""The gradients that a pass delivers, as columns: a long pass has a million, and most views need few of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias, overload

import numpy as np

from microtape.recording.model.model import BackwardStep, Delivery
from microtape.recording.tables.fields import inside, integers
from microtape.recording.tables.ids import small

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Deliveries:
    """All deliveries of a pass in order of time: for each its step, its receiver, and what that still waits for."""

    steps: Sequence[BackwardStep] = field(repr=False)
    step: Integers
    node: Integers
    left: Integers
    _known: dict[int, Received] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, steps: Sequence[BackwardStep]) -> Deliveries:
        """The deliveries of these steps."""
        sizes, every = inside(steps, "deliveries")
        step = np.repeat(small(np.arange(len(steps))), sizes)
        return cls(steps, step, small(integers(every, "node")), small(integers(every, "dependencies_left")))

    def to(self, node: int) -> Received:
        """Those to one node."""
        known = self._known.get(node)
        if known is None:
            receivers, numbers, steps = self._by_receiver
            mine = slice(bisect_left(receivers, node), bisect_right(receivers, node))
            known = self._known[node] = Received(self, numbers[mine], steps[mine])
        return known

    @cached_property
    def _by_receiver(self) -> tuple[memoryview, memoryview, memoryview]:
        """The receivers in ascending order, and of each delivery its number and its step; quick to bisect."""
        order = small(np.argsort(self.node, kind="stable"))
        return self.node[order].data, order.data, self.step[order].data

    @cached_property
    def first_of_step(self) -> Integers:
        """For each step, the number of its first delivery."""
        return small(np.searchsorted(self.step, np.arange(len(self.steps), dtype=self.step.dtype)))


class Received(Sequence[tuple[int, Delivery]]):
    """The gradients delivered to a node, in order, each with its step."""

    def __init__(self, every: Deliveries, numbers: memoryview, steps: memoryview) -> None:
        self._every = every
        self._numbers = numbers
        self._steps = steps

    def before(self, steps_done: int) -> int:
        """How many are delivered by the first steps."""
        return bisect_left(self._steps, steps_done)

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, at: int) -> tuple[int, Delivery]: ...
    @overload
    def __getitem__(self, at: slice) -> list[tuple[int, Delivery]]: ...
    def __getitem__(self, at: int | slice) -> tuple[int, Delivery] | list[tuple[int, Delivery]]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        step = self._steps[at]
        return step, self._every.steps[step].deliveries[self._numbers[at] - self._every.first_of_step[step]]
