# ruff: noqa: N999 - torch's name
"""Names that are private in torch too, for programs that inspect the engine while it runs."""

from __future__ import annotations

from typing import Any

from microtape.backward.probe import current_node, current_task, remaining_order, will_run
from microtape.basics.settings import settings
from microtape.tape.node import Node


def _is_multithreading_enabled() -> bool:
    """The value set by `set_multithreading_enabled`."""
    return settings.multithreading


def _is_view_replay_enabled() -> bool:
    """The value set by `_force_original_view_tracking`."""
    return settings.view_replay


def _current_graph_task_id() -> int:
    """The id of the GraphTask, the call of backward, that this thread is running; -1 if none."""
    task = current_task()
    return task.id if task is not None else -1


def _current_autograd_node() -> Node | None:
    """The node that this thread is evaluating; None if none."""
    return current_node()


def _will_engine_execute_node(node: Any) -> bool:
    """Whether the present call of backward evaluates `node`. Raises RuntimeError outside of backward."""
    task = current_task()
    if task is None:
        raise RuntimeError("_get_should_execute_nodes should only be called during the backward pass")
    if not isinstance(node, Node):
        raise RuntimeError(f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}")
    return will_run(task, node)


def _current_graph_task_execution_order() -> list[Node]:
    """The nodes that are still to be evaluated, the present one first. Raises RuntimeError outside of backward."""
    task = current_task()
    if task is None:
        raise RuntimeError("_current_graph_task_execution_order should only be called during the backward pass")
    return remaining_order(task, current_node())
