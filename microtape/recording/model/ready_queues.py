"""The ready queue after any step of a pass: computed from when each node became ready and when it ran.

A recording does not store it: where a thousand nodes wait for a thousand steps, storing the queue at each step would
take a million numbers.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from microtape.recording.model.model import Pass, Recording

_Priority = tuple[int, int]


class ReadyQueues:
    """The ready queues of one pass. AccumulateGrad goes first, then the node that was recorded last."""

    def __init__(self, recording: Recording, pass_: Pass) -> None:
        self._recording = recording
        ends = {step.node: step.index + 1 for step in pass_.steps}
        since = {node: (0, self._priority(node, i)) for i, node in enumerate(pass_.ready)}
        unrun = sorted((priority, node) for node, (_, priority) in since.items() if node not in ends)
        for step in pass_.steps:
            _, here = since.get(step.node, (0, self._priority(step.node, 0)))
            while unrun and unrun[0][0] < here:  # only its gradient was asked for: it left the queue without running
                ends[heappop(unrun)[1]] = step.index + 1
            for one in step.deliveries:
                if not one.dependencies_left and one.node not in since:
                    priority = self._priority(one.node, len(since))
                    since[one.node] = step.index + 1, priority
                    if one.node not in ends:
                        heappush(unrun, (priority, one.node))
        last = len(pass_.steps) + 1
        ran = {step.node for step in pass_.steps}
        leaving = sorted(since, key=lambda node: (ends.get(node, last), node in ran, since[node][1]))
        self._nodes = np.array(leaving, np.int64)
        self._since = np.array([since[node][0] for node in leaving], np.int64)
        self._end = np.array([ends.get(node, last) for node in leaving], np.int64)
        self._first_since = np.minimum.accumulate(self._since[::-1])[::-1]  # of a node and those that leave after it

    def after(self, steps: int) -> tuple[int, ...]:
        """The ready queue after that many steps, next node first."""
        gone = np.searchsorted(self._end, steps, "right")
        come = np.searchsorted(self._first_since, steps, "right")
        here = slice(gone, come)  # nodes before `gone` have left; nodes from `come` on have not arrived
        return tuple(self._nodes[here][self._since[here] <= steps].tolist())

    def _priority(self, node: int, arrival: int) -> _Priority:
        """The smallest runs first: AccumulateGrad nodes as they became ready, then the highest sequence number."""
        record = self._recording.nodes[node]
        return (0, arrival) if record.variable is not None else (1, -(record.sequence_nr or 0))
