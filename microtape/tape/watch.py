"""Observers: a Watcher that has joined `watch` is told of every operation and of every step of backward.

The engine itself knows no recorder and no mode: recording, anomaly mode, saved-tensor hooks, inference mode and forward
AD are all Watchers. Without a Watcher, each place that would tell one costs an attribute look-up.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from microtape.tape.grad_mode import mode

if TYPE_CHECKING:
    from microtape.backward.engine import GraphTask
    from microtape.tape.node import Node
    from microtape.tape.tensor_state import TensorState


class Watcher:
    """An observer of the engine: a subclass overrides the methods for the events that it needs."""

    explains: ClassVar[bool] = False  # whether it prints where a failing node was recorded (anomaly mode)

    def operation(self, node: Node, operands: tuple[Any, ...], outputs: tuple[Any, ...], in_place: bool) -> None:
        """`node` was recorded; `operands` are tensors and other arguments, `outputs` the tensors it computed."""

    def unrecorded(self, node: Node, operands: tuple[Any, ...], outputs: tuple[Any, ...], in_place: bool) -> None:
        """Like `operation`, for an operation that was not recorded: `node` ran its forward and is dropped."""

    def without_history(self, op: str, operands: tuple[TensorState, ...], output: TensorState) -> None:
        """`op` made `output`, which never has a history: `detach`, `data`, a comparison, an argmax, ...

        For `detach_`, the tensor is the operand and the output.
        """

    def value_taken(self, op: str, tensor: TensorState, value: Any) -> None:
        """`op`, such as `item`, took `value` out of a tensor: a number, an array, or a list of numbers."""

    def compared(self, op: str, operands: tuple[TensorState, ...]) -> None:
        """`op` compared tensors as wholes, and gave a bool: `equal`, `allclose`."""

    def tensor_made(self, value: Any, tensor: TensorState) -> None:
        """`tensor` was made of `value`: a number, an array, a tensor, or a list of these."""

    def called(self, node: Node, args: tuple[Any, ...], raw: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
        """A Function was called, recorded or not; its forward returned `raw`, and the caller gets `outputs`."""

    def call_started(self, kind: str, node: Node | None, function: Callable[..., Any], args: Any) -> None:
        """A function of the user's is about to be called; `node` is the one on whose behalf, if it is known."""

    def call_ended(self, returned: Any, error: BaseException | None) -> None:
        """The innermost function that `call_started` told of has returned, or raised `error`."""

    def saved_read(self, node: Node, tensors: tuple[Any, ...]) -> None:
        """The user read `saved_tensors` of a Function."""

    def packed(self, item: Any, tensor: TensorState) -> None:
        """Saved-tensor hooks have packed `tensor`: a node keeps `item`, a PackedTensor, in its place."""

    def unpacked(self, node: Node, item: Any, tensor: TensorState) -> None:
        """`node` unpacked its saved `item` as `tensor`, a new object."""

    def operands_saved(self, node: Node, written: TensorState) -> None:
        """`node` has saved its operands, and is about to overwrite `written`; its results it will save afterwards."""

    def writing(self, tensor: TensorState) -> None:
        """The memory of `tensor` is about to be overwritten."""

    def replacing(self, tensor: TensorState) -> None:
        """`tensor` is about to be given other memory, by `tensor.data = ...`."""

    def stepping(self, parameters: Sequence[TensorState]) -> None:
        """The step of an optimiser with these parameters is about to begin."""

    def stepped(self, parameters: Sequence[TensorState]) -> None:
        """The step of an optimiser has ended; these are its parameters, whether or not it changed them."""

    def task_started(self, task: GraphTask) -> None:
        """A call of backward has delivered the first gradients and is about to evaluate the first node."""

    def node_started(self, task: GraphTask, node: Node, gradient: Any) -> None:
        """`node` is about to run on this gradient; its tensor hooks and pre-hooks have run."""

    def node_finished(self, task: GraphTask, node: Node, gradients: Any, freed: bool) -> None:
        """`node` has run and its gradients have been delivered; `freed`: its saved tensors were freed."""

    def delivered(self, task: GraphTask, node: Node, output: int, term: Any, total: Any) -> None:
        """`term`, gradient number `output` of `node`, went along its edge; `total` is the receiver's sum now."""

    def hook_ran(self, task: GraphTask, kind: str, hook: Any, before: Any, after: Any) -> None:
        """A hook of this kind ran: the gradient before and after it."""

    def task_finished(self, task: GraphTask, error: BaseException | None) -> None:
        """A call of backward has ended, with `error` if it failed."""


class Watchers(Watcher):
    """Several observers as one. They are told in the order in which they joined; of what has ended, in reverse."""

    def __init__(self, members: tuple[Watcher, ...]) -> None:
        self.members = members
        self._listening: dict[str, list[Callable[..., None]]] = {}  # by method, once it was called

    def listening(self, method: str, *, last_first: bool) -> list[Callable[..., None]]:
        """The members' own methods of this name: of those for whom it does something."""
        nothing = getattr(Watcher, method)
        own = [getattr(one, method) for one in self.members]
        found = [one for one in own if getattr(one, "__func__", None) is not nothing]
        self._listening[method] = found = found[::-1] if last_first else found
        return found


def _telling(method: str, *, last_first: bool) -> Callable[..., None]:
    """A method of Watchers that calls the method of this name on each member.

    Nobody is told of what the library computes for its own purposes.
    """

    def tell(self: Watchers, *told: Any) -> None:
        if mode.internal:
            return
        listening = self._listening.get(method)
        if listening is None:
            listening = self.listening(method, last_first=last_first)
        for listens in listening:
            listens(*told)

    return tell


for _method in [name for name, value in vars(Watcher).items() if callable(value)]:
    setattr(Watchers, _method, _telling(_method, last_first=_method.endswith("_finished")))


class _Watch:
    """The observers: `watchers`, and for the engine `watcher`, which is None, the only one, or a Watchers of all."""

    __slots__ = ("_lock", "watcher", "watchers")

    def __init__(self) -> None:
        self.watcher: Watcher | None = None
        self.watchers: tuple[Watcher, ...] = ()
        self._lock = threading.Lock()

    def join(self, watcher: Watcher, *, first: bool = False) -> None:
        """Add an observer, after the others or `first`. An observer that joins several times is told once."""
        with self._lock:
            self.set((watcher, *self.watchers) if first else (*self.watchers, watcher))

    def leave(self, watcher: Watcher) -> None:
        """Remove an observer, once it has left as often as it has joined."""
        with self._lock:
            members = list(self.watchers)
            if watcher in members:
                members.remove(watcher)
            self.set(tuple(members))

    def set(self, watchers: tuple[Watcher, ...]) -> None:
        """Replace the observers."""
        self.watchers = watchers
        members = tuple(dict.fromkeys(watchers))
        self.watcher = None if not members else members[0] if len(members) == 1 else Watchers(members)


watch = _Watch()


def call(kind: str, node: Node | None, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function of the user's. The observer, if there is one, is told of its start and its end."""
    watcher = watch.watcher
    if watcher is None:
        return function(*args, **kwargs)
    watcher.call_started(kind, node, function, args)
    try:
        returned = function(*args, **kwargs)
    except BaseException as error:
        watcher.call_ended(None, error)
        raise
    watcher.call_ended(returned, None)
    return returned
