"""The order in which torch's engine runs the nodes of a pass, ties included.

Note [The heap of the ready queue]
  torch keeps the nodes that are ready in a `std::priority_queue`: of those of the innermost pass, the highest sequence
  number runs first. All AccumulateGrad nodes have the same number, 2**64 - 1. Which of them runs first depends on how
  the heap moves its elements, so the heap here moves them as libstdc++ does, which torch uses on Linux. NB: the
  standard libraries of macOS and Windows may run AccumulateGrad nodes in another order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_GRAPH_ROOT = -1  # a pass with several roots begins with a node that delivers to them


class ReadyHeap:
    """A ready queue of torch: a thread has one, which a pass inside of another pass shares with it."""

    def __init__(self) -> None:
        self._heap: list[tuple[tuple[int, int], int]] = []  # (priority, node): no child's priority is higher

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, node: int, sequence_nr: int, depth: int = 0) -> None:
        """Add a node that became ready. The depth of a pass is the number of passes around it."""
        self._heap.append(((depth, sequence_nr), node))
        self._sift_up(len(self._heap) - 1)

    def pop(self) -> int:
        """Remove the node that runs next, and return it. Raises IndexError if no node is ready."""
        heap = self._heap
        moved = heap.pop()
        if not heap:
            return moved[1]
        node, hole, size = heap[0][1], 0, len(heap)
        while (below := 2 * hole + 1) < size:  # down to the end, past elements smaller than the one that goes there
            if below + 1 < size and heap[below + 1][0] >= heap[below][0]:
                below += 1
            heap[hole] = heap[below]
            hole = below
        heap[hole] = moved
        self._sift_up(hole)
        return node

    def _sift_up(self, hole: int) -> None:
        heap = self._heap
        moved = heap[hole]
        while hole and heap[above := (hole - 1) // 2][0] < moved[0]:
            heap[hole] = heap[above]
            hole = above
        heap[hole] = moved


def evaluation_order(
    roots: Sequence[int],
    edges: Sequence[Sequence[int]],
    sequence_nrs: Sequence[int],
    queue: ReadyHeap | None = None,
    depth: int = 0,
) -> Iterator[int]:
    """Yield the nodes of a pass in the order in which torch takes them from its ready queue.

    Nodes are numbers from 0; `edges[node]` are the receivers of its gradients, in the order of its inputs, and only
    those that the pass executes. A root may occur more than once. A node of which only the gradient is asked for has no
    edges; it is yielded, but torch runs no hook of it. A pass that begins while another one runs a node takes the queue
    of the other and its depth plus 1, and ends before the other goes on.
    """
    queue = ReadyHeap() if queue is None else queue
    dependencies = [0] * len(edges)
    for receivers in edges:
        for node in receivers:
            dependencies[node] += 1
    ready = list(roots)
    if len(roots) > 1:
        queue.push(_GRAPH_ROOT, 0, depth)
        queue.pop()
        for node in roots:
            dependencies[node] += 1
        ready = _delivered(roots, dependencies)
    waiting = 0
    while True:
        for node in ready:
            queue.push(node, sequence_nrs[node], depth)
        waiting += len(ready)
        if not waiting:
            return
        waiting -= 1
        yield (node := queue.pop())
        ready = _delivered(edges[node], dependencies)


def _delivered(receivers: Sequence[int], dependencies: list[int]) -> list[int]:
    """Count a delivery for each receiver; return those that became ready."""
    ready = []
    for node in receivers:
        dependencies[node] -= 1
        if not dependencies[node]:
            ready.append(node)
    return ready
