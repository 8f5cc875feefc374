"""Where the engine stands: which node is being evaluated, in which call of backward, and what is still to come.

Note [Asking the call stack]
  Nobody needs to write down which node is running: the call stack says it. A call of backward is a frame of
  `GraphTask.run`, and inside of it a frame of `GraphTask.evaluate` has the node that is being evaluated, or inside of
  that one of `evaluate_leaf`. The innermost ones of this thread are the answer, also where a backward runs inside of
  another one, and the engine spends nothing on it.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from types import FrameType, TracebackType

from microtape.backward.engine import GraphTask
from microtape.tape.node import Node

_RUN = GraphTask.run.__code__
_EVALUATE = GraphTask.evaluate.__code__, GraphTask.evaluate_leaf.__code__


def running_tasks() -> Iterator[GraphTask]:
    """The calls of backward that this thread is in, the innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code is _RUN:
            yield frame.f_locals["self"]
        frame = frame.f_back


def _current_step() -> tuple[GraphTask, Node | None] | None:
    """The task that this thread is running, and the node that it is evaluating, if it is; None outside of backward."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code not in _EVALUATE and frame.f_code is not _RUN:
        frame = frame.f_back
    return (frame.f_locals["self"], frame.f_locals.get("node")) if frame is not None else None


def current_task() -> GraphTask | None:
    """The task that this thread is running, None outside of backward."""
    return next(running_tasks(), None)


def current_node() -> Node | None:
    """The node that this thread is evaluating; None outside of backward, and in the callbacks at its end."""
    step = _current_step()
    return step[1] if step is not None else None


def failed_node(task: GraphTask, trace: TracebackType | None) -> Node | None:
    """The node of `task` that an exception with this traceback came out of; None if it was not in a node."""
    node: Node | None = None
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_code in _EVALUATE and frame.f_locals["self"] is task:
            node = frame.f_locals["node"]
        trace = trace.tb_next
    return node


def will_run(task: GraphTask, node: Node) -> bool:
    """Whether `node` has a part in the task. One that `grad()` takes the gradient of has, though it does not run.

    NB: as in torch, the node of an only root is not counted, and RuntimeError is raised for a leaf that `grad()` was
    asked for.
    """
    roots = task.root.next_nodes
    if node not in task.dependencies or (len(roots) == 1 and node is roots[0]):
        return False
    if task.capture is not None and not task.accumulate and node.kind == "accumulate" and node in task.captures:
        raise RuntimeError(
            "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). This is "
            "currently not supported."
        )
    return True


def remaining_order(task: GraphTask, node: Node | None) -> list[Node]:
    """The nodes that are still to be evaluated in this order, from `node`, the current one, on."""
    left = dict(task.dependencies)
    first: deque[Node] = deque(task.ready_leaves)
    waiting = list(task.waiting)
    order = [] if node is None else [node]
    while True:
        for receiver in order[-1].next_nodes if order else ():
            if receiver is not None and receiver in left:
                left[receiver] -= 1
                if left[receiver] == 0 and receiver.kind == "accumulate":
                    first.append(receiver)
        if not first and not waiting:
            return order
        order.append(first.popleft() if first else waiting.pop())
