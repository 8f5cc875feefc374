"""The one place where an observer can stand: whoever joins is told of every operation and every backward step.

Nobody watches most of the time, and then each of the hooks below costs one attribute look-up. The recorder stands
here, and so does every mode that does more than watch: anomaly mode, saved-tensor hooks, inference mode, forward AD.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from microtape.tape.grad_mode import mode

if TYPE_CHECKING:
    from microtape.backward.engine import GraphTask
    from microtape.tape.node import Node
    from microtape.tape.tensor_state import TensorState


class Watcher:
    """An observer of the engine: overrides what it wants to be told."""

    explains: ClassVar[bool] = False  # whether it shows where the node that failed was recorded

    def operation(self, node: Node, operands: tuple[Any, ...], outputs: tuple[Any, ...], in_place: bool) -> None:
        """`node` was recorded: its operands (tensors and constants) and the tensors it computed."""

    def unrecorded(self, node: Node, operands: tuple[Any, ...], outputs: tuple[Any, ...], in_place: bool) -> None:
        """Like `operation`, for one that leaves no history: `node` has done the work and will be forgotten."""

    def without_history(self, op: str, operands: tuple[TensorState, ...], output: TensorState) -> None:
        """`output` never has a history: it was detached from its only operand, or is a comparison, an argmax, ...

        A tensor that was detached in place is operand and output.
        """

    def value_taken(self, op: str, tensor: TensorState, value: Any) -> None:
        """`op`, such as item, took `value` out of the graph: a number, an array, or a list of numbers."""

    def tensor_made(self, value: Any, tensor: TensorState) -> None:
        """`tensor` was made of `value`: a number, an array, a tensor, or a list of such."""

    def called(self, node: Node, args: tuple[Any, ...], raw: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        """A Function was called, recorded or not: what its forward returned, and what the caller gets."""

    def unpacked(self, node: Node, item: Any, tensor: TensorState) -> None:
        """The saved `item` was unpacked as a Tensor that is made for it."""

    def writing(self, tensor: TensorState) -> None:
        """The memory of `tensor` is about to be overwritten."""

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


class Watchers(Watcher):
    """Several observers as one. What begins is told to the first one first, what has ended to the last one first."""

    def __init__(self, members: tuple[Watcher, ...]) -> None:
        self.members = members

    @property
    def listening(self) -> tuple[Watcher, ...]:
        """Those who are told: nobody of what one of them does on the way."""
        return () if mode.internal else self.members


def _telling(method: str, *, last_first: bool) -> Callable[..., None]:
    """The method of Watchers that calls this one of each member."""

    def tell(self: Watchers, *told: Any) -> None:
        for member in reversed(self.listening) if last_first else self.listening:
            getattr(member, method)(*told)

    return tell


for _method in [name for name, value in vars(Watcher).items() if callable(value)]:
    setattr(Watchers, _method, _telling(_method, last_first=_method.endswith("_finished")))


class _Watch:
    """Who watches: `watchers`, and for the engine `watcher`, which is None, the only one, or all of them as one."""

    __slots__ = ("_lock", "watcher", "watchers")

    def __init__(self) -> None:
        self.watcher: Watcher | None = None
        self.watchers: tuple[Watcher, ...] = ()
        self._lock = threading.Lock()

    def join(self, watcher: Watcher, *, first: bool = False) -> None:
        """Begin to tell `watcher`, behind the others or `first`. It may join several times and is told once."""
        with self._lock:
            self.set((watcher, *self.watchers) if first else (*self.watchers, watcher))

    def leave(self, watcher: Watcher) -> None:
        """Stop telling `watcher`, when it has left as often as it has joined."""
        with self._lock:
            members = list(self.watchers)
            if watcher in members:
                members.remove(watcher)
            self.set(tuple(members))

    def set(self, watchers: tuple[Watcher, ...]) -> None:
        """Tell exactly these from now on."""
        self.watchers = watchers
        members = tuple(dict.fromkeys(watchers))
        self.watcher = None if not members else members[0] if len(members) == 1 else Watchers(members)


watch = _Watch()
