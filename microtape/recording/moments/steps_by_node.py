"""The steps of a long pass by their nodes, without making the steps."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from microtape.recording.model.model import BackwardStep
from microtape.recording.tables.columns import Table
from microtape.recording.tables.fields import integers
from microtape.recording.tables.ids import small


def steps_by_node(steps: Sequence[BackwardStep]) -> Mapping[int, BackwardStep]:
    """Maps a node to the step that evaluated it."""
    return StepsByNode(steps) if isinstance(steps, Table) else {step.node: step for step in steps}


class StepsByNode(Mapping[int, BackwardStep]):
    """Maps a node to the step that evaluated it."""

    def __init__(self, steps: Sequence[BackwardStep]) -> None:
        self._steps = steps
        nodes = integers(steps, "node")
        self._order = small(np.argsort(nodes, kind="stable"))
        self._nodes = small(nodes[self._order]).data  # quick to bisect

    def __getitem__(self, node: int) -> BackwardStep:
        at = bisect_right(self._nodes, node) - 1
        if at < 0 or self._nodes[at] != node:
            raise KeyError(node)
        return self._steps[int(self._order[at])]

    def __iter__(self) -> Iterator[int]:
        yield from integers(self._steps, "node").tolist()

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, node: object) -> bool:
        if not isinstance(node, int):
            return False
        at = bisect_right(self._nodes, node) - 1
        return at >= 0 and self._nodes[at] == node
