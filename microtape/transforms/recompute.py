"""Running a checkpointed function again, and giving what it saves to those who wait for it.

Note [Recomputation]
  Inside of a checkpointed function, hooks put an empty `Slot` in the place of every tensor that is saved. When backward
  unpacks the first of them, the function runs again, and other hooks give what is saved this time to the slots, in
  the same order. A recomputed tensor belongs to one call of backward and goes as soon as it has been used. As only
  the saved tensors are wanted, the second run is stopped, by an exception, once the last slot has been served.

Note [Nested checkpoints]
  A saved tensor is the business of the innermost checkpoint alone. The inputs of a checkpoint are saved like those of
  an operation, so an outer checkpoint puts slots in their place too: to run the inner function again, the outer one
  is run again first, as far as it is needed.
"""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from microtape.backward.probe import current_task
from microtape.basics.call_site import user_frame
from microtape.errors import CheckpointError
from microtape.random import default_generator
from microtape.tape.grad_mode import _GradMode
from microtape.tape.node import Node
from microtape.tape.saved import keep_versions, unpack_tensor
from microtape.tensors.tensor import Tensor
from microtape.transforms.checkpoint_log import OperationLog, differing_operations
from microtape.transforms.saved_hooks import pack_with_hooks_in_force, saved_tensors_hooks

TIP = (
    "\nTip: To see a more detailed error message, either pass `debug=True` to\n"
    "`microtape.utils.checkpoint.checkpoint(...)` or wrap the code block\n"
    "with `with microtape.utils.checkpoint.set_checkpoint_debug_enabled(True):` to\n"
    "enable checkpoint‑debug mode globally.\n"
)


class Recipe:
    """How to run the function again, on inputs given each time."""

    def __init__(
        self,
        function: Callable[..., Any],
        kwargs: dict[str, Any],
        context: AbstractContextManager[Any],
        preserve_rng_state: bool,
    ) -> None:
        self.function, self.kwargs, self.context = function, kwargs, context
        self.random = default_generator.get_state() if preserve_rng_state else None

    def run(self, args: list[Any]) -> None:
        """Run it, and leave the random state as it is now."""
        before = default_generator.get_state()
        try:
            if self.random is not None:
                default_generator.set_state(self.random)
            with self.context:
                self.function(*args, **self.kwargs)
        finally:
            if self.random is not None:
                default_generator.set_state(before)


class _Inputs(Node):
    """Keeps the tensors among a checkpoint's arguments as an operation keeps its operands; it is in no graph."""

    __slots__ = ("args", "places", "sources")

    def __init__(self, args: tuple[Any, ...]) -> None:
        super().__init__()
        self.places = [i for i, one in enumerate(args) if isinstance(one, Tensor)]
        self.args = [None if isinstance(one, Tensor) else one for one in args]
        self.saved = tuple(args[i] for i in self.places)
        self.sources = (-1,) * len(self.saved)
        keep_versions(self)
        pack_with_hooks_in_force(self)
        frame = user_frame(sys._getframe(1))
        if frame is not None:
            self.code, self.instruction = frame.f_code, frame.f_lasti

    def again(self) -> list[Any]:
        """The arguments. Raises ModifiedInPlaceError if one has been written to since."""
        args = list(self.args)
        for index, place in enumerate(self.places):
            args[place] = unpack_tensor(self, index)
        return args


class Frame:
    """One checkpointed call: its inputs, and the slots of what it saved, in order."""

    def __init__(
        self,
        recipe: Recipe,
        args: tuple[Any, ...],
        early_stop: bool,
        describe: Callable[[Any], Any],
        logs: tuple[OperationLog, OperationLog] | None,
    ) -> None:
        self.recipe = recipe
        self.inputs = _Inputs(args)
        self.early_stop = early_stop
        self.describe = describe
        self.logs = logs
        self.slots: list[weakref.ref[Slot]] = []  # the graph holds them, and lets go of them when it is freed
        self.described: list[Any] = []
        self.forward_completed = False
        self.recomputed_for: weakref.WeakSet[Any] = weakref.WeakSet()

    def pack(self, tensor: Any) -> Slot:
        """The pack hook of the first run."""
        slot = Slot(self)
        self.slots.append(weakref.ref(slot))
        self.described.append(self.describe(tensor))
        return slot

    def recompute(self, task: Any) -> None:
        """Run the function again for this call of backward, and serve the slots."""
        args = self.inputs.again()
        run = _Recomputation(self, task)
        try:
            with contextlib.suppress(_Stop), saved_tensors_hooks(run.pack, lambda kept: kept), _GradMode(True):
                self.recipe.run(args)
            self.recomputed_for.add(task)
            run.check()
        except CheckpointError as error:
            if self.logs is None:
                raise
            raise CheckpointError(f"{error}{differing_operations(*self.logs)}") from error


class _Recomputation:
    """One more run of a checkpointed function, for one call of backward."""

    def __init__(self, frame: Frame, task: Any) -> None:
        self.frame, self.task = frame, task
        self.count = 0
        self.differences: list[str] = []
        self.backward_inside = False

    def pack(self, tensor: Any) -> Any:
        """The pack hook: serve the next slot, if the graph still holds it. The run's own graph gets the tensor too."""
        frame, index = self.frame, self.count
        tensor = tensor.detach() if tensor.requires_grad else tensor
        self.count += 1
        if index >= len(frame.slots):
            if not frame.forward_completed:  # a backward inside of the first run; what follows has no slot yet
                self.backward_inside = True
                return tensor
            raise CheckpointError(
                "microtape.utils.checkpoint: trying to save more tensors during recomputation than during the original "
                f"forward pass.\n{TIP}"
            )
        slot = frame.slots[index]()
        if slot is not None:
            slot.values[self.task] = tensor
            before, now = frame.described[index], frame.describe(tensor)
            if before != now:
                self.differences.append(
                    f"tensor at position {index}:\nsaved metadata: {before}\nrecomputed metadata: {now}\n"
                )
        if frame.early_stop and self.count == len(frame.slots):
            raise _Stop
        return tensor

    def check(self) -> None:
        """Raise CheckpointError where this run has not saved what the first one did."""
        if self.backward_inside:
            return
        if self.count != len(self.frame.slots):
            raise CheckpointError(
                "microtape.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.frame.slots)}\n"
                f"Number of tensors saved during recomputation: {self.count}.\n{TIP}"
            )
        if self.differences:
            raise CheckpointError(
                "microtape.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                f"during the forward pass.\n{''.join(self.differences)}.\n{TIP}"
            )


class Slot:
    """What stands in the graph for a saved tensor: a place that each call of backward finds filled once."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.values: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    def unpack(self) -> Any:
        """The unpack hook. Raises CheckpointError if it is asked twice in one call of backward."""
        task = current_task() or _Once()
        if task not in self.frame.recomputed_for:
            self.frame.recompute(task)
        tensor = self.values.get(task)
        if tensor is None:
            raise CheckpointError(
                "microtape.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. If "
                "you are calling ctx.saved_tensors in backward, make sure to do so only once. Otherwise please open an "
                "issue with details on your use case."
            )
        self.values[task] = None
        return tensor


class _Once:
    """Stands for a call of backward where a saved tensor is looked at outside of any."""


class _Stop(Exception):  # noqa: N818 - not an error
    """Everything that is needed has been recomputed."""
