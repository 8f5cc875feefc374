"""Remembers the calls of Functions and of torch's operations, and checks a node when it has run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch._C import DisableTorchFunctionSubclass
from torch._C._autograd import _get_sequence_nr as next_sequence_nr

from microtape.recording.checking.checker import Called, Checker, Evaluated
from microtape.recording.checking.quotients import Arrays
from microtape.recording.model.model import BackwardStep
from microtape.recording.model.options import Check
from microtape.recording.pytorch.calls.arguments import tensors_in
from microtape.recording.pytorch.calls.call_sites import is_library
from microtape.recording.pytorch.calls.function_kinds import CALL, WRITES, kind_of
from microtape.recording.pytorch.checks.again import FunctionAgain, OperationAgain, array_of, coarsest
from microtape.recording.pytorch.checks.undisturbed import is_running_again, undisturbed
from microtape.recording.pytorch.graph import NodeEdge
from microtape.recording.pytorch.notes import GraphNode
from microtape.recording.pytorch.operations.mode_stack import RecorderMode
from microtape.recording.pytorch.operations.operations import Operations
from microtape.recording.pytorch.reading.subclasses import PLAIN
from microtape.recording.pytorch.reading.traced import is_traced
from microtape.recording.pytorch.tensors import Tensors, tells_history
from microtape.recording.writing.faults import Faults

_LARGEST = 1 << 22  # elements of all arguments together: they are copied, and kept until the node has run
_TOO_LARGE = "its arguments are so large that they were not kept"
_WAITS = "it may wait for other processes, so its forward cannot run again"
_OVERWRITTEN = "it has overwritten its operand, so its forward cannot run again"


class TorchChecker(Checker):
    """Checks the nodes of PyTorch programs. What it remembers of a call lies with the node, and dies with it."""

    def __init__(
        self, check: Check, known: Checker | None, is_installed: Callable[[str], bool], tensors: Tensors, faults: Faults
    ) -> None:
        super().__init__(check, known, is_installed)
        self._tensors, self._faults = tensors, faults

    # Functions

    def calling(self, cls: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """What to give to `called`: copies of the arguments, or why they are not kept; None: nothing to check."""
        with self._faults.noting(f"the check of the gradients of {cls.__name__}"):
            if is_running_again() or not torch.is_grad_enabled() or kwargs or _is_of_library(cls):
                return None
            if not self.remembers(cls):
                return None
            found = [one for one in args if isinstance(one, torch.Tensor)]
            if any(one.requires_grad for one in found):
                return self._arrays(found)
        return None

    def _arrays(self, tensors: Sequence[Any]) -> Arrays | str | None:
        if sum([one.numel() for one in tensors if type(one) in PLAIN and not one.is_nested]) > _LARGEST:
            return _TOO_LARGE
        arrays = [array_of(one) for one in tensors]
        known = [one for one in arrays if one is not None]
        return known if len(known) == len(arrays) else None

    def called(self, cls: Any, args: Sequence[Any], before: Any, result: Any) -> None:
        """Remember the call of a Function that has returned."""
        with self._faults.noting(f"the check of the gradients of {cls.__name__}"):
            outputs = result if isinstance(result, tuple) else (result,)
            node = next((one.grad_fn for one in outputs if _is_computed(one)), None)
            if before is None or node is None:
                return
            note = self._tensors.node(node)
            distributed = torch.distributed
            if distributed.is_available() and distributed.is_initialized():
                before = _WAITS
            if isinstance(before, str):
                note.called = before
                return
            note.called = _remembered(FunctionAgain(cls, args, before), True, before, outputs, None)

    # Operations

    def operands(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Arrays, list[NodeEdge]] | None:
        """Copies of the operands of an operation, and where their gradients go; None: it cannot run again."""
        with self._faults.noting("the check of the gradients of an operation"):
            found = [one for one in args if isinstance(one, torch.Tensor)]
            if (
                not torch.is_grad_enabled()
                or not any(one.requires_grad for one in found)
                or len(list(tensors_in(args, kwargs))) != len(found)
            ):
                return None
            arrays = self._arrays(found)
            if arrays is not None and not isinstance(arrays, str):
                return arrays, [self._origin(one) for one in found]
        return None

    def _origin(self, tensor: torch.Tensor) -> NodeEdge:
        if not tensor.requires_grad or not tells_history(tensor):
            return None, 0
        if tensor.grad_fn is None:
            return self._tensors.see(tensor).accumulated(), 0
        return self._tensors.node(tensor.grad_fn), tensor.output_nr

    def computed(
        self, function: Any, args: Sequence[Any], kwargs: dict[str, Any], before: tuple[Arrays, list[NodeEdge]],
        result: Any,
    ) -> None:  # fmt: skip
        """Remember the call of an operation that has made one node."""
        with self._faults.noting("the check of the gradients of an operation"):
            outputs = tuple(result) if isinstance(result, tuple | list) else (result,)
            node = next((one.grad_fn for one in outputs if _is_computed(one)), None)
            if node is None:
                return
            note, (arrays, origins) = self._tensors.node(node), before
            if any(one is result for one in args):
                note.called = _OVERWRITTEN
            else:
                again = OperationAgain(function, args, kwargs, arrays)
                note.called = _remembered(again, False, arrays, outputs, origins)

    # Nodes that have run

    def check(
        self, key: GraphNode, pass_: int, step: BackwardStep, gradients: tuple[Any, Any], receivers: Sequence[NodeEdge],
        *, create_graph: bool,
    ) -> None:  # fmt: skip
        """Check a node that has run in this step, if it was remembered; see `compare`.

        `gradients` are those that have left and those that have arrived, as tensors; `receivers` are the node's edges.
        """
        if not receivers or not self.wants(pass_, step):
            return
        with self._faults.noting(f"the check of the gradients of %{step.node}"):
            known, key.called = key.called, None
            if isinstance(known, Remembered):
                self.compare(
                    _evaluated(known, pass_, step, gradients, receivers), undisturbed, create_graph=create_graph
                )
            elif self.only is not None or known in (_TOO_LARGE, _WAITS):
                self.cannot(pass_, step, 0, known or "its forward cannot run again by itself")


def _remembered(
    again: FunctionAgain | OperationAgain, is_function: bool, arrays: Arrays, outputs: Sequence[Any],
    origins: Sequence[NodeEdge] | None,
) -> Remembered | None:  # fmt: skip
    numbers = [i for i, one in enumerate(outputs) if isinstance(one, torch.Tensor)]
    results = [array_of(outputs[i]) for i in numbers]
    known = [one for one in results if one is not None]
    if len(known) < len(results):
        return None
    lowest = coarsest([outputs[i] for i in numbers])  # autocast may have computed in another dtype than the operands'
    called = Called(again, is_function, arrays, known, [max(one, lowest) for one in again.precisions])
    return Remembered(called, list(enumerate(numbers)), {i for i in numbers if not outputs[i].requires_grad}, origins)


class Remembered(NamedTuple):
    """A call, as it is kept with its node."""

    called: Called
    outputs: Sequence[tuple[int, int]]
    without_gradient: set[int]
    origins: Sequence[NodeEdge] | None  # where the gradient of each operand goes; None: each along its own edge


def _evaluated(
    known: Remembered, pass_: int, step: BackwardStep, gradients: tuple[Any, Any], receivers: Sequence[NodeEdge]
) -> Evaluated:
    edges = range(len(receivers)) if known.origins is None else _edges(known.origins, receivers)
    sent, arrived = ([array_of(one) for one in several] for several in gradients)
    return Evaluated(
        called=known.called,
        pass_=pass_,
        step=step,
        grad_outputs=arrived,
        grad_inputs=sent,
        edges=edges,
        is_needed=[edge is not None and receivers[edge][0] is not None for edge in edges],
        outputs=known.outputs,
        without_gradient=known.without_gradient,
        backward=known.called.again.backward,
    )


def _edges(origins: Sequence[NodeEdge], receivers: Sequence[NodeEdge]) -> list[int | None]:
    """For each operand the edge that leads to where it came from; of several, in their order."""
    free = dict(enumerate(receivers))
    found: list[int | None] = []
    for origin in origins:
        edge = next((i for i, one in free.items() if one[0] is not None and one == origin), None)
        if edge is not None:
            del free[edge]
        found.append(edge)
    return found


def _is_computed(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad and tells_history(value) and not value.is_leaf


def _is_of_library(cls: Any) -> bool:
    """Whether a Function is torch's own."""
    code = getattr(inspect.unwrap(cls.forward), "__code__", None)
    return code is None or is_library(code.co_filename)


class RememberingMode(RecorderMode):
    """A mode that remembers the calls of torch's operations that make one node each."""

    def __init__(self, checker: Callable[[], TorchChecker | None], operations: Operations) -> None:
        super().__init__()
        self._checker, self._operations = checker, operations

    def __torch_function__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run the call, and remember it."""
        kwargs = kwargs or {}
        if is_traced():
            return function(*args, **kwargs)
        checker, kind = self._checker(), kind_of(function)
        if checker is None or self._operations.quiet or kind not in (CALL, WRITES):
            return function(*args, **kwargs)
        with DisableTorchFunctionSubclass():
            before, start = checker.operands(args, kwargs), next_sequence_nr()
        result = function(*args, **kwargs)
        if before is not None and next_sequence_nr() == start + 1:
            with DisableTorchFunctionSubclass():
                checker.computed(function, args, kwargs, before, result)
        return result
