"""The one place where an observer can stand: a recorder sees every operation and every backward step from here.

Nobody watches most of the time, and then each of the hooks below costs one attribute look-up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from microtape.engine import GraphTask
    from microtape.node import Node


class Watcher(Protocol):
    """What an observer of the engine is told."""

    def operation(self, node: Node, operands: tuple[Any, ...], outputs: tuple[Any, ...], in_place: bool) -> None:
        """`node` was recorded: its operands (tensors and constants) and the tensors it computed."""

    def task_started(self, task: GraphTask) -> None:
        """A call of backward has counted its dependencies and is about to evaluate the first node."""

    def node_started(self, task: GraphTask, node: Node, gradient: Any) -> None:
        """`node` is about to run with this gradient (hooks have run)."""

    def node_finished(self, task: GraphTask, node: Node, gradients: Any, freed: bool) -> None:
        """`node` has run and its gradients were delivered."""

    def delivered(self, task: GraphTask, node: Node, output: int, term: Any, total: Any) -> None:
        """One gradient of `node` went along one edge; `total` is the sum there now."""

    def hook_ran(self, task: GraphTask, kind: str, hook: Any, before: Any, after: Any) -> None:
        """A hook ran."""

    def task_finished(self, task: GraphTask, error: BaseException | None) -> None:
        """The call is over."""


class _Watch:
    __slots__ = ("watcher",)

    def __init__(self) -> None:
        self.watcher: Watcher | None = None


watch = _Watch()
