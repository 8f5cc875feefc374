"""Running a checkpointed function again, and handing the tensors that it saves to the graph of the first run.

Note [Recomputation]
  While a checkpointed function runs, hooks replace every saved tensor by an empty `Placeholder`. When backward unpacks
  the first of these, the function runs again; other hooks hand the tensors that this run saves to the placeholders, in
  the same order. A recomputed tensor belongs to one call of backward and is dropped as soon as it has been used. As
  only the saved tensors are needed, an exception stops the second run once the last placeholder has its tensor.

Note [Nested checkpoints]
  Only the innermost checkpoint replaces a saved tensor. The inputs of a checkpoint are saved like the operands of an
  operation, so an outer checkpoint replaces them by placeholders too: before the inner function can run again, the
  outer one runs again as far as necessary.
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
from microtape.tape.grad_mode import GradMode
from microtape.tape.node import Node
from microtape.tape.saved import keep_versions, unpack_tensor
from microtape.tape.tensor_state import TensorState, is_leaf, new_tensor
from microtape.tape.watch import Watcher, call, watch
from microtape.tensors.tensor import Tensor
from microtape.transforms.checkpoint_debug import OperationLog, differing_operations
from microtape.transforms.saved_hooks import pack_with_active_hooks, saved_tensors_hooks

TIP = (
    "\nTip: To see a more detailed error message, either pass `debug=True` to\n"
    "`microtape.utils.checkpoint.checkpoint(...)` or wrap the code block\n"
    "with `with microtape.utils.checkpoint.set_checkpoint_debug_enabled(True):` to\n"
    "enable checkpoint‑debug mode globally.\n"
)


class Recipe:
    """All that is needed to run the function again, except its arguments."""

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
        """Run the function from the random state of its first run, and restore the present random state afterwards."""
        before = default_generator.get_state()
        try:
            if self.random is not None:
                default_generator.set_state(self.random)
            with self.context:
                call("recomputation", None, self.function, *args, **self.kwargs)
        finally:
            if self.random is not None:
                default_generator.set_state(before)


class _Inputs(Node):
    """Saves the tensors among a checkpoint's arguments as an operation saves its operands; not part of any graph."""

    __slots__ = ("args", "places", "results")

    def __init__(self, args: tuple[Any, ...]) -> None:
        super().__init__()
        self.places = [i for i, one in enumerate(args) if isinstance(one, Tensor)]
        self.args = [None if isinstance(one, Tensor) else one for one in args]
        self.saved = tuple(args[i] for i in self.places)
        self.results = [not is_leaf(one) for one in self.saved]
        keep_versions(self)
        pack_with_active_hooks(self)
        frame = user_frame(sys._getframe(1))
        if frame is not None:
            self.code, self.instruction = frame.f_code, frame.f_lasti

    def saved_a_result(self, index: int) -> bool:
        """See Node."""
        return self.results[index]

    def again(self) -> list[Any]:
        """The arguments. Raises ModifiedInPlaceError if one has been overwritten since."""
        args = list(self.args)
        for index, place in enumerate(self.places):
            args[place] = unpack_tensor(self, index)
        return args


class CheckpointedCall:
    """One call of a checkpointed function: its inputs, and a placeholder for each tensor that it saved, in order."""

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
        self.placeholders: list[weakref.ref[Placeholder]] = []  # owned by the graph, and freed with it
        self.described: list[Any] = []
        self.forward_completed = False
        self.recomputed_for: weakref.WeakSet[Any] = weakref.WeakSet()

    def pack(self, tensor: Any) -> Placeholder:
        """The pack hook of the first run: keep a placeholder and not the tensor."""
        placeholder = Placeholder(self)
        self.placeholders.append(weakref.ref(placeholder))
        self.described.append(self.describe(tensor))
        return placeholder

    def recompute(self, task: Any) -> None:
        """Run the function again for this call of backward, and fill the placeholders."""
        args = self.inputs.again()
        run = _Recomputation(self, task)
        watch.join(run)
        try:
            with (
                contextlib.suppress(_StopRecomputationError),
                saved_tensors_hooks(run.pack, lambda kept: kept),
                GradMode(True),
            ):
                self.recipe.run(args)
            self.recomputed_for.add(task)
            run.check()
        except CheckpointError as error:
            if self.logs is None:
                raise
            raise CheckpointError(f"{error}{differing_operations(*self.logs)}") from error
        finally:
            watch.leave(run)


class _Recomputation(Watcher):
    """One more run of a checkpointed function, for one call of backward."""

    def __init__(self, call: CheckpointedCall, task: Any) -> None:
        self.call, self.task = call, task
        self.count = 0
        self.differences: list[str] = []
        self.backward_inside = False

    def writing(self, tensor: TensorState) -> None:
        """Copy what the function has saved and is about to overwrite. NB: torch's backward uses the new values."""
        for reference in self.call.placeholders[: self.count]:
            placeholder = reference()
            kept = placeholder.values.get(self.task) if placeholder is not None else None
            if placeholder is not None and kept is not None and kept.version is tensor.version:
                placeholder.values[self.task] = new_tensor(type(kept), kept.array.copy())

    def pack(self, tensor: Any) -> Any:
        """The pack hook: fill the next placeholder if the graph still holds it. This run's graph keeps the tensor."""
        call, index = self.call, self.count
        tensor = tensor.detach() if tensor.requires_grad else tensor
        self.count += 1
        if index >= len(call.placeholders):
            if not call.forward_completed:  # a backward inside of the first run; what follows has no placeholder yet
                self.backward_inside = True
                return tensor
            raise CheckpointError(
                "microtape.utils.checkpoint: trying to save more tensors during recomputation than during the original "
                f"forward pass.\n{TIP}"
            )
        placeholder = call.placeholders[index]()
        if placeholder is not None:
            placeholder.values[self.task] = tensor
            before, now = call.described[index], call.describe(tensor)
            if before != now:
                self.differences.append(
                    f"tensor at position {index}:\nsaved metadata: {before}\nrecomputed metadata: {now}\n"
                )
        if call.early_stop and self.count == len(call.placeholders):
            raise _StopRecomputationError
        return tensor

    def check(self) -> None:
        """Raise CheckpointError if this run has not saved tensors like those of the first."""
        if self.backward_inside:
            return
        if self.count != len(self.call.placeholders):
            raise CheckpointError(
                "microtape.utils.checkpoint: A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.call.placeholders)}\n"
                f"Number of tensors saved during recomputation: {self.count}.\n{TIP}"
            )
        if self.differences:
            raise CheckpointError(
                "microtape.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                f"during the forward pass.\n{''.join(self.differences)}.\n{TIP}"
            )


class Placeholder:
    """Stands in the graph for a saved tensor, which each call of backward recomputes and may unpack once."""

    def __init__(self, call: CheckpointedCall) -> None:
        self.call = call
        self.values: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    def unpack(self) -> Any:
        """The unpack hook. Raises CheckpointError if it runs twice in one call of backward."""
        task = current_task() or _OutsideBackward()
        if task not in self.call.recomputed_for:
            self.call.recompute(task)
        tensor = self.values.get(task)
        if tensor is None:
            raise CheckpointError(
                "microtape.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. If "
                "you are calling ctx.saved_tensors in backward, make sure to do so only once. Otherwise please open an "
                "issue with details on your use case."
            )
        self.values[task] = None
        return tensor


class _OutsideBackward:
    """Takes the place of the GraphTask if a saved tensor is unpacked while no backward runs."""


class _StopRecomputationError(Exception):
    """Stops a recomputation once all that is needed has been recomputed."""

    ends_early = True  # for observers: nothing has failed
