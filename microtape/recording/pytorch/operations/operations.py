"""Notes each operation of a PyTorch program while it runs: where it was called, with what, and what came out.

A `TorchFunctionMode` sees every call of torch that the program makes. The nodes that a call has made are those whose
sequence numbers torch gave out during it, so a call is noted with a range of numbers, and the graph is not touched.
"""

from __future__ import annotations

import contextlib
import sys
import weakref
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

import torch
from torch._C import DisableTorchFunctionSubclass
from torch._C._autograd import _get_sequence_nr

from microtape.recording.pytorch.calls.arguments import are_constants, constants_of, plain_arguments, tensors_in
from microtape.recording.pytorch.calls.call_sites import site_in
from microtape.recording.pytorch.calls.function_kinds import (
    ATTRIBUTE,
    CALL,
    MAKES_DUAL,
    READS_NODE,
    SETS_DATA,
    SHAPED_LIKE,
    TAKES,
    WRITES,
    kind_of,
    word_of,
)
from microtape.recording.pytorch.notes import Operation, Origin, SeenTensor, Version, origin_of
from microtape.recording.pytorch.operations.aliases import Aliases
from microtape.recording.pytorch.operations.borders import Borders
from microtape.recording.pytorch.operations.made import innermost, is_made_since, made_inside
from microtape.recording.pytorch.operations.mode_stack import RecorderMode, push, remove
from microtape.recording.pytorch.operations.writes import Writes
from microtape.recording.pytorch.ranges import Ranges
from microtape.recording.pytorch.reading.traced import is_compiling, is_jit_tracing
from microtape.recording.pytorch.reading.wrapped import levels_inside
from microtape.recording.pytorch.tensors import Tensors, grad_fn_of, version_of
from microtape.recording.writing.faults import Faults, was_raised_by_a_signal

_Tensor = torch.Tensor
_next_number = _get_sequence_nr
_KINDS: dict[Any, int] = {}  # by hand, because `functools.cache` takes three times as long


class Operations(RecorderMode):
    """The mode. A fault of ours is noted, and the program's call has its own result or error."""

    def __init__(self, tensors: Tensors, faults: Faults) -> None:
        super().__init__()
        self.tensors, self.faults = tensors, faults
        self.quiet = 0  # if not 0, nothing is noted but what `hearing` lets through
        self._ranges = Ranges[Operation]()
        self.aliases = Aliases(tensors, faults)
        self.writes = Writes(self.aliases)
        self.borders = Borders(tensors, self.aliases, self.writes)
        self.taken = self.borders.taken
        self.nodes_were_read = False  # whether the program has looked at nodes, and may have put hooks on them
        self.duals_were_made = False  # whether the program computes derivatives in forward mode
        self._heard = -1  # how quiet it is where a graph that is made is noted all the same
        self._met: dict[int, Any] | None = None  # tensors with a history, in the forward of a Function without a node

    @property
    def is_quiet(self) -> bool:
        """Whether a call that is made now is not noted."""
        return self.quiet != 0 and not (self.quiet == self._heard and torch.is_grad_enabled())

    @contextlib.contextmanager
    def hearing(self) -> Iterator[None]:
        """A context in which the graph is noted that the backward of a Function makes, though a pass is quiet.

        It may run parts of the forward again, or be differentiated itself.
        """
        before, self._heard = self._heard, self.quiet
        is_ours = push(self)
        self.tensors.values.clear()
        try:
            yield
        finally:
            self.tensors.values.clear()
            self._heard = before
            if is_ours:
                remove(self)

    def __torch_function__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run the call, and note it."""
        if is_compiling() or is_jit_tracing():  # what follows must not be traced: gradients would become wrong
            return function(*args, **(kwargs or {}))
        kind = _KINDS.get(function)
        if kind is None:
            kind = _KINDS[function] = kind_of(function)
        if kind <= SETS_DATA or (self.quiet and self.is_quiet):  # a property takes longer than a number
            if kind == READS_NODE:
                self.nodes_were_read = True
            elif kind == SETS_DATA:
                self._set_data(function, args)
                return None
            elif kind != ATTRIBUTE and self._met is not None:
                self._meet(args, kwargs or {})
            return function(*args, **kwargs) if kwargs else function(*args)
        kwargs = kwargs or {}
        if kind == CALL and (not kwargs or are_constants(kwargs)) and (plain := plain_arguments(args)) is not None:
            tensors, constants = plain
            start = _next_number()
            result = function(*args, **kwargs) if kwargs else function(*args)
            try:
                end = _next_number()
                if end == start:
                    if (
                        self.borders.were_crossed
                        or (self.taken.known and len(tensors) < len(args))
                        or any([one.requires_grad for one, _ in tensors])
                    ):
                        self._after(function, kind, args, kwargs, tensors, start, result, sys._getframe(1))
                elif not (
                    type(result) is _Tensor
                    and result.requires_grad
                    and self._note_plain(function, tensors, constants, kwargs, start, end, result, sys._getframe(1))
                ):
                    self._after(function, kind, args, kwargs, tensors, start, result, sys._getframe(1))
            except Exception as error:
                self._fault(error)
            return result
        start = _next_number()
        before, cut_off = None, None
        try:
            before, cut_off = self._before(kind, args, kwargs)
        except Exception as error:
            self._fault(error)
        result = function(*args, **kwargs)
        try:
            self._after(function, kind, args, kwargs, before, start, result, sys._getframe(1), cut_off)
        except Exception as error:
            self._fault(error)
        return result

    def _set_data(self, function: Any, args: Sequence[Any]) -> None:
        """`tensor.data = ...`, which gives the tensor other elements but no new version."""
        function(*args)
        try:
            self.tensors.replaced(args[0])
        except Exception as error:
            self._fault(error)

    def _note_plain(
        self, function: Any, before: list[tuple[Any, int]], constants: list[Any], named: dict[str, Any], start: int,
        end: int, result: Any, frame: FrameType,
    ) -> bool:  # fmt: skip
        """Note the usual call: plain tensors and constants in, one tensor with a history out.

        False: it has written to one of its arguments, and is not noted.
        """
        tensors = self.tensors
        operands, behind = [], []
        for tensor, version in before:
            if tensor._version != version:
                return False
            seen = tensors.see(tensor)
            if self.taken.arrays and seen.border is None and not (seen.values or seen.requires_grad):
                self.taken.enter_by_memory(tensor)
            if version not in seen.values:
                tensors.fill(seen, tensor, version)
                if seen.base is not None:
                    self._renewed(tensor, seen, version)
            seen.latest = version
            operands.append((seen, version))
            behind.append(seen.node() if seen.node is not None and seen.border is None else origin_of(seen))
        arguments: Any = constants if named or len(constants) > len(before) else ()
        if arguments and self.taken.known:
            arguments = self.taken.as_operands(constants, operands, behind)
            self.borders.were_crossed = self.borders.were_crossed or len(operands) > len(before)
        operation = Operation(start, end, function, site_in(frame), operands, behind, arguments, named)
        node = tensors.node(result.grad_fn)
        if node.operation is None:
            node.operation = operation
        if not tensors.note_result(result, node):  # the call gives back what there was before: the base of a view
            seen, version = tensors.read(result)
            seen.node, seen.output_nr = weakref.ref(node), result.output_nr
            node.outputs[seen.output_nr] = seen, version
        self.aliases.note_use(function, before, frame)
        if end == node.sequence_nr + 1 == start + 1:
            tensors.values.clear()
        else:
            self._note_inside(result)
            self._add_range(operation)  # other nodes were made, which no tensor of the program's leads to
        return True

    def _note_inside(self, result: Any) -> None:
        """Note the values at the levels of function transforms further out, each with nodes of its own."""
        for one in levels_inside(result):
            if one.requires_grad and (grad_fn := grad_fn_of(one)) is not None:
                node, read = self.tensors.node(grad_fn), self.tensors.read(one)
                if one.output_nr not in node.inner:
                    node.note_inner(one.output_nr, *read)

    def _add_range(self, operation: Operation) -> None:
        self.tensors.values.clear()
        self._ranges.add(self.quiet, operation.start, operation.end, operation)

    def _fault(self, error: Exception) -> None:
        if was_raised_by_a_signal(error):
            raise error
        self.faults.add("an operation", error)

    def _before(self, kind: int, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[list[tuple[Any, int]], Origin]:
        """The tensors among the arguments and their versions. What is about to be overwritten is copied first.

        Also what that came out of: `detach_` cuts it off.
        """
        found, origin = list(tensors_in(args, kwargs)), None
        with DisableTorchFunctionSubclass():  # the program may count the calls that reach its subclass
            if kind == WRITES or "out" in kwargs or kwargs.get("inplace"):
                out = kwargs.get("out")
                is_recorded = any([one.requires_grad for one in found[1:]])
                for one in found[:1] if out is None else tensors_in((out,), {}):
                    if is_recorded or self.tensors.find(one) is not None or version_of(one):
                        seen, _ = self.tensors.read(one)  # else it may be memory that nothing has written to yet
                        origin = origin_of(seen)
                        self._leave_hooks(one)
            return [(one, version_of(one)) for one in found], origin

    def _leave_hooks(self, tensor: Any) -> None:
        """A tensor is about to be written to: torch leaves its hooks with the node that has computed it so far."""
        for one in (tensor, tensor._base):
            if one is not None and one._backward_hooks and (grad_fn := grad_fn_of(one)) is not None:
                node = self.tensors.node(grad_fn)
                node.left_hooks = (*node.left_hooks, one._backward_hooks)

    def _after(
        self,
        function: Any,
        kind: int,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        before: Sequence[tuple[Any, int]] | None,
        start: int,
        result: Any,
        frame: FrameType,
        cut_off: Origin = None,
    ) -> None:
        if before is None:
            return
        end = _next_number()
        self.duals_were_made = self.duals_were_made or kind == MAKES_DUAL
        with DisableTorchFunctionSubclass():
            self.aliases.note_use(function, before, frame)
            wrote = [one for one, version in before if version_of(one) != version]
            if kind == TAKES:
                self.borders.take(function, before, result, frame)
            elif end != start or wrote or any(one.requires_grad or self.borders.has_history(one) for one, _ in before):
                self._note(function, args, kwargs, before, wrote, start, end, result, frame, cut_off)
            elif isinstance(result, torch.Tensor):
                self.borders.enter(args, result)
        self.tensors.values.clear()  # whatever was noted: the next tensors may be at the same addresses

    def _note(
        self,
        function: Any,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        before: Sequence[tuple[Any, int]],
        wrote: Sequence[Any],
        start: int,
        end: int,
        result: Any,
        frame: FrameType,
        cut_off: Origin,
    ) -> None:
        results = [*tensors_in((result,), {})] if result is not None else []
        detaches = word_of(function) == "detach_"
        if not wrote and not detaches:  # `contiguous` and others may give their argument back
            results = [one for one in results if not any(one is operand for operand, _ in before)]
            results = [one for one in results if not self.borders.is_view_of_constant(one, before)]
        for one in wrote:
            if not any(one is other for other in results):
                results.append(one)
        recorded = [one for one in results if is_made_since(start, one)] if end != start else []
        if end != start and not recorded and (made := made_inside(start, result, before)):
            operands_inside = [innermost(one) for one, _ in before]  # as the level further out sees the call
            before = [(one, self.tensors.see(one).latest) for one in operands_inside]
            recorded, results, wrote = (
                made,
                made,
                [one for one in operands_inside if any(one is other for other in made)],
            )
        is_cut_off = detaches and self.borders.has_history(before[0][0])
        has_history = is_cut_off or any(one.requires_grad for one, _ in before)
        if not recorded and (not results or word_of(function) in SHAPED_LIKE):
            return
        operands = [self._operand(one, version, wrote, bool(recorded)) for one, version in before]
        behind = [cut_off] if detaches else [origin_of(seen) for seen, _ in operands]
        constants = constants_of(function, args, kwargs)
        operation = Operation(start, end, function, site_in(frame), operands, behind, constants)
        operation.in_place = detaches or (bool(wrote) and any(one is results[0] for one in wrote))
        operation.outputs = len(results)
        for one in wrote:
            self.writes.note(one, operation.site)
        if recorded:
            for one in recorded:
                self._computed(one, operation)
                self._note_inside(one)
            for one in wrote:
                self.tensors.read(one)  # also what was overwritten without a word to torch
                if one._base is not None and is_made_since(start, one._base):
                    self._computed(one._base, operation)
        else:
            if not has_history and not any(seen.border is not None for seen, _ in operands):
                if wrote:
                    self.borders.enter(args, wrote[0])
                for one in wrote:
                    if self.tensors.find(one) is not None:
                        self.tensors.read(one)
                return
            self.borders.cross(operation, results, has_history, inside=bool(self._met))
        if start != end:
            self._add_range(operation)

    def _operand(self, tensor: Any, version: int, wrote: Sequence[Any], is_recorded: bool) -> Version:
        if any(one is tensor for one in wrote):
            return self.tensors.see(tensor), version
        seen = self.tensors.see(tensor)
        is_new = version not in seen.values
        operand = self.tensors.read(tensor)
        if is_new and seen.base is not None and is_recorded:
            self._renewed(tensor, seen, version)
        return operand

    def _renewed(self, tensor: Any, seen: SeenTensor, version: int) -> None:
        """Note the node of a view whose memory was written to: torch makes it when a recorded call uses the view."""
        if tensor.requires_grad and (grad_fn := grad_fn_of(tensor)) is not None:
            node = self.tensors.node(grad_fn)
            seen.node, seen.output_nr = weakref.ref(node), tensor.output_nr
            node.outputs.setdefault(tensor.output_nr, (seen, version))

    def _computed(self, tensor: Any, operation: Operation) -> None:
        node = self.tensors.node(tensor.grad_fn)
        if node.operation is None:
            node.operation = operation
        seen, version = self.tensors.read(tensor)
        seen.border = None
        seen.requires_grad, seen.is_leaf = True, False
        seen.node, seen.output_nr = weakref.ref(node), tensor.output_nr
        node.outputs[tensor.output_nr] = (seen, version)

    # Look-ups

    def operation_of(self, sequence_nr: int) -> Operation | None:
        """The operation during which this number was given out."""
        found = self._ranges.find(sequence_nr)
        return found[0] if found is not None else None

    @property
    def has_flat_ranges(self) -> bool:
        """Whether no operation was noted while another one ran."""
        return self._ranges.are_flat

    # Functions

    def before_function(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """The tensors among the arguments of a Function and their versions; None if they cannot be told."""
        self._met = None
        try:
            before, _ = self._before(WRITES, args, kwargs)
            if not any([one.requires_grad for one, _ in before]):
                self._met = {}
            return before
        except Exception as error:
            self._fault(error)
            return None

    def _meet(self, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Note what the forward of a Function uses that has a history; a Function with a node may care for it."""
        try:
            found = [one for one in tensors_in(args, kwargs) if one.requires_grad]
            if self._met is not None:
                self._met.update((id(one), one) for one in found)
        except Exception as error:
            self._fault(error)

    def note_function(
        self, function: Any, args: Any, kwargs: Any, before: Any, start: int, result: Any, frame: FrameType
    ) -> None:
        """Note the call of a Function that has just returned."""
        try:
            if before is not None and self._met:
                before = [*before, *((one, version_of(one)) for one in self._met.values())]
            self._after(function, CALL, args, kwargs, before, start, result, frame)
        except Exception as error:
            self._fault(error)
        finally:
            self._met = None

    def forget_function(self) -> None:
        """The forward of a Function has raised."""
        self._met = None
