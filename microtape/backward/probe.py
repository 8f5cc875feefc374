"""The state of the engine: which node is being evaluated, in which call of backward, and which nodes are left.

Note [Asking the call stack]
  The engine does not store which node is running, because the call stack shows it. A call of backward is a frame of
  `GraphTask.run`; inside it, the local variable `node` of a frame of `GraphTask.evaluate`, or of `evaluate_leaf` inside
  that, is the node that is being evaluated. The innermost of these frames is the one to read, also if a backward runs
  inside another one. This costs the engine no time.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from types import FrameType, TracebackType

from microtape.backward.engine import GraphTask
from microtape.basics.fresh_stack import calling_frame
from microtape.tape.node import Node

_RUN = GraphTask.run.__code__
_EVALUATE = GraphTask.evaluate.__code__, GraphTask.evaluate_leaf.__code__


def running_steps() -> Iterator[tuple[GraphTask, Node | None]]:
    """The calls of backward that are running on this thread, the innermost first, and the node that each evaluates."""
    node: Node | None = None
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code is _RUN:
            yield frame.f_locals["self"], node
            node = None
        elif node is None and frame.f_code in _EVALUATE:
            node = frame.f_locals.get("node")
        frame = calling_frame(frame)


def _current_step() -> tuple[GraphTask, Node | None] | None:
    """The task that this thread is running, and the node that it is evaluating, if any; None outside of backward."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code not in _EVALUATE and frame.f_code is not _RUN:
        frame = calling_frame(frame)
    return (frame.f_locals["self"], frame.f_locals.get("node")) if frame is not None else None


def current_task() -> GraphTask | None:
    """The innermost task that this thread is running; None outside of backward."""
    return next((task for task, _ in running_steps()), None)


def current_node() -> Node | None:
    """The node that this thread is evaluating; None outside of backward, and during the callbacks at its end."""
    step = _current_step()
    return step[1] if step is not None else None


def failed_node(task: GraphTask, trace: TracebackType | None) -> Node | None:
    """The node of `task` that raised the exception with this traceback; None if no node did."""
    node: Node | None = None
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_code in _EVALUATE and frame.f_locals["self"] is task:
            node = frame.f_locals["node"]
        trace = trace.tb_next
    return node


def will_run(task: GraphTask, node: Node) -> bool:
    """Whether the task delivers gradients to `node`, also if `grad()` only captures them there.

    As in torch, the answer is False for the node of a single root, and the node of a leaf that `grad()` was called for
    raises RuntimeError.
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
    """The nodes that are left to evaluate, in that order, starting with `node`, the current one."""
    remaining = dict(task.dependencies)
    ready_leaves: deque[Node] = deque(task.ready_leaves)
    waiting = list(task.waiting)
    order = [] if node is None else [node]
    while True:
        for receiver in order[-1].next_nodes if order else ():
            if receiver is not None and receiver in remaining:
                remaining[receiver] -= 1
                if remaining[receiver] == 0 and receiver.kind == "accumulate":
                    ready_leaves.append(receiver)
        if not ready_leaves and not waiting:
            return order
        order.append(ready_leaves.popleft() if ready_leaves else waiting.pop())
