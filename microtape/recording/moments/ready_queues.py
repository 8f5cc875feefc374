"""The ready queue after any step of a pass: computed from when each node became ready and when it ran.

A recording does not store it: where a thousand nodes wait for a thousand steps, storing the queue at each step would
take a million numbers.
"""

from __future__ import annotations

from bisect import bisect_right
from heapq import heappop, heappush
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from microtape.recording.model.model import Pass, Recording
from microtape.recording.moments.deliveries import Deliveries
from microtape.recording.tables.columns import NONE
from microtape.recording.tables.fields import integers, picked
from microtape.recording.tables.ids import small

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers: TypeAlias = npt.NDArray[np.int64]


class ReadyQueues:
    """The ready queues of one pass. AccumulateGrad goes first, then the node that was recorded last."""

    def __init__(self, recording: Recording, pass_: Pass, deliveries: Deliveries) -> None:
        runs = integers(pass_.steps, "node")
        came = deliveries.left == 0
        became = np.append(np.array(pass_.ready, np.int64), deliveries.node[came])  # ready, in order of time
        since = np.append(np.zeros(len(pass_.ready), np.int64), deliveries.step[came] + 1)
        nodes, arrival = np.unique(np.append(became, runs), return_index=True)
        is_ready = arrival < len(became)  # all nodes, but in the pass of a faulty engine
        rank = _ranks(recording, nodes, np.where(is_ready, arrival, -1))

        end = np.full(len(nodes), len(runs) + 1)
        end[np.searchsorted(nodes, runs)] = np.arange(len(runs)) + 1
        nodes, rank_of_run, rank = nodes[is_ready], rank[np.searchsorted(nodes, runs)], rank[is_ready]
        end, since = end[is_ready], since[arrival[is_ready]]
        has_run = end <= len(runs)
        if not has_run.all():
            _leave_without_running(end, since, rank, rank_of_run)
        leaving = np.lexsort((rank, has_run, end))
        self._nodes, self._since, self._end = small(nodes[leaving]), small(since[leaving]), small(end[leaving])
        self._first_since = np.minimum.accumulate(self._since[::-1])[::-1]  # of a node and those that leave after it

    def after(self, steps: int) -> tuple[int, ...]:
        """The ready queue after that many steps, next node first."""
        gone, come = bisect_right(self._end.data, steps), bisect_right(self._first_since.data, steps)
        here = slice(gone, come)  # nodes before `gone` have left; nodes from `come` on have not arrived
        return tuple(self._nodes[here][self._since[here] <= steps].tolist())


def _ranks(recording: Recording, nodes: Integers, arrival: Integers) -> Integers:
    """The smallest runs first: AccumulateGrad nodes as they became ready, then the highest sequence number."""
    records = picked(recording.nodes, nodes.tolist())
    is_leaf = integers(records, "variable") != NONE
    number = integers(records, "sequence_nr")
    number[number == NONE] = 0
    rank = np.empty(len(nodes), np.int64)
    rank[np.lexsort((np.where(is_leaf, arrival, ~number), ~is_leaf))] = np.arange(len(nodes))
    return rank


def _leave_without_running(end: Integers, since: Integers, rank: Integers, rank_of_run: Integers) -> None:
    """Find when nodes leave the queue that never run, since only their gradients were asked for.

    That is before the first node runs that comes after them.
    """
    unrun = np.flatnonzero(end > len(rank_of_run))
    coming = unrun[np.argsort(-since[unrun], kind="stable")].tolist()  # the last is the first to come
    queue: list[tuple[int, int]] = []
    for step, here in enumerate(rank_of_run.tolist()):
        while coming and since[coming[-1]] <= step:
            heappush(queue, (int(rank[coming[-1]]), coming.pop()))
        while queue and queue[0][0] < here:
            end[heappop(queue)[1]] = step + 1
