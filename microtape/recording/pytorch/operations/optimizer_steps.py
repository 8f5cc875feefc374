"""The steps of optimisers: which parameters each is asked to update, and what it has written to them."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any

import torch
from torch.optim import optimizer as _optimizer

from microtape.basics.call_site import CallSite
from microtape.basics.followed_threads import Threads
from microtape.basics.fresh_stack import stack_ident
from microtape.recording.pytorch.calls.call_sites import asking_frame, site_of
from microtape.recording.pytorch.notes import SeenTensor
from microtape.recording.pytorch.operations.mode_stack import StackedMode, are_the_whole_stack
from microtape.recording.pytorch.operations.operations import Operations
from microtape.recording.pytorch.reading.modes import WithoutFunctionModes
from microtape.recording.pytorch.reading.traced import is_traced
from microtape.recording.pytorch.updates import Updates
from microtape.recording.writing.faults import Faults

_torch: Any = torch  # the parts of torch that are not typed
_OURS = 1  # of torch's hooks of all optimisers


class OptimizerSteps:
    """A context that notes the steps of optimisers.

    During a step of one of torch's own, our modes are off the stack. They would see up to thirty calls for each of its
    parameters, and all that is worth a note is that the parameter was written to, at the line of the step.

    Args:
        operations: notes the writes.
        modes: what is taken off.
        is_installed: whether a file belongs to an installed package.
        updates: those of the segment; they are told of each parameter before a step, with the line, and after it.
        open_passes: how many passes are running: a hook of one may step an optimiser.
    """

    def __init__(
        self,
        operations: Operations,
        modes: Sequence[StackedMode],
        threads: Threads,
        is_installed: Callable[[str], bool],
        updates: Callable[[], Updates],
        open_passes: Callable[[], int],
        faults: Faults,
    ) -> None:
        self._operations, self._modes, self._threads = operations, modes, threads
        self._is_installed, self._updates, self._faults = is_installed, updates, faults
        self._open_passes = open_passes
        self._running: list[tuple[Any, int]] | None = None  # while our modes are off: parameters and their versions
        self._hooks = contextlib.ExitStack()

    def __enter__(self) -> None:
        for hook in (
            _optimizer.register_optimizer_step_pre_hook(self._begins),
            _optimizer.register_optimizer_step_post_hook(self._ended),
        ):
            self._hooks.callback(hook.remove)

    def __exit__(self, *error: object) -> None:
        self._running = None
        self._hooks.close()

    def settle(self) -> None:
        """Put the modes back after a step that has raised: torch tells nobody that it is over."""
        if self._running is not None and self._is_in_first_thread():
            self._running = None
            for mode in self._modes:
                mode.put_on()

    def _is_in_first_thread(self) -> bool:
        return stack_ident() == self._threads.first  # each thread has a stack of modes of its own

    @property
    def _is_quiet(self) -> bool:
        """Whether nothing is noted; in a pass, this is so of operations alone."""
        return self._operations.quiet > self._open_passes()

    def _site(self, frame: FrameType) -> CallSite | None:
        return site_of(asking_frame(frame, "step", self._is_installed))

    def _begins(self, optimizer: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        if is_traced():
            return
        self.settle()
        if self._is_quiet or stack_ident() not in self._threads:
            return
        with self._faults.noting("the step of an optimiser"), WithoutFunctionModes():
            site = self._site(sys._getframe(1))
            parameters = _parameters(optimizer)
            gradients = [one.grad for one in parameters]
            self._updates().stepping([*zip(self._leaves(parameters), gradients, strict=True)], site)
            if self._open_passes() or not self._is_in_first_thread():
                return
            if _runs_code_of_the_program(optimizer, args, kwargs):
                return
            read = self._operations.tensors.read
            versions = [(one, read(one)[1]) for one in parameters if one.grad is not None]
            self._operations.tensors.values.clear()
            if are_the_whole_stack(self._modes):
                for mode in self._modes:
                    mode.take_off()
                self._running = versions

    def _ended(self, optimizer: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        if is_traced():
            return
        before = self._running
        if before is not None and self._is_in_first_thread():
            with self._faults.noting("the step of an optimiser"):
                self._operations.writes.note_step(before, self._site(sys._getframe(1)), self._operations.tensors)
            self.settle()
        if self._is_quiet or stack_ident() not in self._threads:
            return
        with self._faults.noting("the step of an optimiser"), WithoutFunctionModes():
            self._updates().step_ended(self._leaves(_parameters(optimizer)))

    def _leaves(self, parameters: Sequence[Any]) -> list[SeenTensor]:
        """The leaves that passes reach for these parameters."""
        tensors = self._operations.tensors
        used = tensors.stand_ins()
        return [used.get(id(one)) or tensors.see(one) for one in parameters]


def _parameters(optimizer: Any) -> list[Any]:
    return [one for group in optimizer.param_groups for one in group["params"]]


def _runs_code_of_the_program(optimizer: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether a step may run lines of the program's, or compute something with a history."""
    return (
        not type(optimizer).__module__.startswith("torch.optim.")
        or any([one is not None for one in (*args[1:], *kwargs.values())])  # a closure
        or len(optimizer._optimizer_step_pre_hooks) + len(optimizer._optimizer_step_post_hooks) > 0
        or len(_optimizer._global_optimizer_pre_hooks) > _OURS
        or len(_optimizer._global_optimizer_post_hooks) > _OURS
        or any([group.get("differentiable") for group in optimizer.param_groups])
    )
