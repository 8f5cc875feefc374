"""Where the engine stands: which node is being evaluated, in which call of backward.

Note [Asking the call stack]
  Nobody needs to write down which node is running: the call stack says it. A node is evaluated inside of
  `GraphTask.step`, so the innermost such frame of this thread names the task and the node, also where a backward runs
  inside of another one, and the engine spends nothing on it.
"""

from __future__ import annotations

import sys
from types import FrameType, TracebackType

from microtape.engine import GraphTask
from microtape.node import Node

_STEP = GraphTask.step.__code__


def current_step() -> tuple[GraphTask, Node] | None:
    """The task and the node that this thread is evaluating, None outside of a backward pass."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not _STEP:
        frame = frame.f_back
    return (frame.f_locals["self"], frame.f_locals["node"]) if frame is not None else None


def failed_node(task: GraphTask, trace: TracebackType | None) -> Node | None:
    """The node of `task` that an exception with this traceback came out of; None if it was not in a node."""
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_code is _STEP and frame.f_locals["self"] is task:
            node: Node = frame.f_locals["node"]
            return node
        trace = trace.tb_next
    return None
