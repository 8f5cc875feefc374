"""The forward and the backward of a call, to be run again on other arrays; the call and its node stay as they are."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from microtape.recording.checking.quotients import Array, Arrays, Backward, Forward
from microtape.recording.pytorch.checks.undisturbed import Guard, one_run
from microtape.recording.pytorch.reading.modes import WithoutFunctionModes
from microtape.recording.pytorch.reading.values import value_of

_Function: Any = torch.autograd.Function
_once: Any = once_differentiable
_ONCE: Any = _once(lambda ctx: None)
_AUTOCAST = ("cpu", "cuda")
_ALL = 1 << 62


class Slot(NamedTuple):
    """A tensor among the arguments of a call."""

    dtype: torch.dtype
    device: torch.device
    requires_grad: bool
    is_whole: bool  # whether its array has the same dtype

    @property
    def precision(self) -> float:
        """Its machine precision; 0 if it is not of a floating-point dtype."""
        return float(torch.finfo(self.dtype).eps) if self.dtype.is_floating_point else 0.0


def array_of(tensor: Any) -> Array | None:
    """A copy of all elements of a tensor; None if they cannot be read."""
    found = value_of(tensor, _ALL)
    return found if isinstance(found, np.ndarray) else None


class _Call:
    """The arguments of a call: tensors as slots, everything else as it is."""

    coarsest = 0.0  # see `Again`

    def __init__(self, args: Sequence[Any], arrays: Arrays) -> None:
        given = iter(arrays)
        self.slots = [_slot(one, next(given)) if isinstance(one, torch.Tensor) else None for one in args]
        self._constants = [None if isinstance(one, torch.Tensor) else one for one in args]
        self._autocast = [_autocast_of(device) for device in _AUTOCAST]

    @property
    def precisions(self) -> list[float]:
        """The machine precision of each tensor."""
        return [one.precision for one in self.slots if one is not None]

    def arguments(self, arrays: Arrays, guard: Guard) -> list[Any]:
        """The arguments with new tensors of these arrays."""
        given = iter(arrays)
        return [
            constant if slot is None else _tensor(slot, next(given), guard)
            for slot, constant in zip(self.slots, self._constants, strict=True)
        ]

    def leaves(self, arrays: Arrays, guard: Guard) -> tuple[list[Any], list[Any]]:
        """The same arguments, and among them the tensors, of which those require grad that did."""
        arguments = self.arguments(arrays, guard)
        leaves = [one for one, slot in zip(arguments, self.slots, strict=True) if slot is not None]
        return arguments, leaves

    def _results(self, outputs: Sequence[Any]) -> Arrays:
        """The elements of those that are tensors."""
        tensors = [one for one in outputs if isinstance(one, torch.Tensor)]
        self.coarsest = coarsest(tensors)
        return [_array(one) for one in tensors]

    @contextlib.contextmanager
    def as_it_was(self) -> Any:
        """Where autocast is as it was when the call ran."""
        with contextlib.ExitStack() as stack:
            for device, (enabled, dtype) in zip(_AUTOCAST, self._autocast, strict=True):
                if enabled != torch.is_autocast_enabled(device):
                    stack.enter_context(torch.autocast(device, dtype=dtype, enabled=enabled))
            yield


def _slot(tensor: torch.Tensor, array: Array) -> Slot:
    is_whole = str(array.dtype) == str(tensor.dtype).removeprefix("torch.")
    return Slot(tensor.dtype, tensor.device, tensor.requires_grad, is_whole)


def _autocast_of(device: str) -> tuple[bool, torch.dtype]:
    return torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)


def _tensor(slot: Slot, array: Array, guard: Guard) -> torch.Tensor:
    with WithoutFunctionModes():
        made = torch.from_numpy(np.array(array, order="C"))
        if not slot.is_whole and made.dtype is not torch.float64:
            made = made.to(slot.dtype)
        made = guard.own(made.to(slot.device))
        return made.requires_grad_() if slot.requires_grad else made


class FunctionAgain(_Call):
    """The call of a custom Function."""

    def __init__(self, cls: Any, args: Sequence[Any], arrays: Arrays) -> None:
        super().__init__(args, arrays)
        self.cls = cls
        self._separate = cls.setup_context is not _Function.setup_context
        user = cls.vjp if cls.vjp is not _Function.vjp else cls.backward
        self._backward = user
        self.once_differentiable = is_once_differentiable(user)

    @functools.cached_property
    def _ctx(self) -> Any:
        return _ctx_of(self.cls)

    def forward(self, arrays: Arrays) -> Arrays:
        """Its outputs that are tensors."""
        with one_run() as guard, self.as_it_was():
            return self._results(self._run(self.arguments(arrays, guard))[1])

    def backward(self, arrays: Arrays) -> Backward:
        """Its backward, after a forward on these arrays."""

        def run(output: int, gradient: Array) -> Sequence[Any]:
            with one_run() as guard:
                arguments, _ = self.leaves(arrays, guard)
                with self.as_it_was():
                    ctx, outputs = self._run(arguments)
                given: list[Any] = [None] * len(outputs)
                given[output] = guard.own(torch.from_numpy(gradient).to(outputs[output]))
                return self._gradients(ctx, outputs, given, arrays)

        return run

    def gradients(self, grad_outputs: Sequence[Any]) -> Forward:
        """Its backward for these gradients of the outputs, as a function of the operands: zeros where it gives None."""

        def run(arrays: Arrays) -> Arrays:
            with one_run() as guard:
                arguments, _ = self.leaves(arrays, guard)
                with self.as_it_was():
                    ctx, outputs = self._run(arguments)
                found = self._gradients(ctx, outputs, _given(outputs, grad_outputs, guard), arrays)
            return [np.zeros_like(array) if one is None else one for one, array in zip(found, arrays, strict=True)]

        return run

    def second_backward(self, arrays: Arrays, grad_outputs: Sequence[Any]) -> Backward:
        """The derivatives of these gradients by the operands, as double backward computes them."""

        def run(edge: int, gradient: Array) -> Sequence[Any]:
            with one_run() as guard, torch.enable_grad():
                arguments, leaves = self.leaves(arrays, guard)
                needed = [one for one in leaves if one.requires_grad]
                with self.as_it_was():  # clone: it may write to what is no leaf
                    returned = self.cls.apply(
                        *[one.clone() if isinstance(one, torch.Tensor) else one for one in arguments]
                    )
                outputs = returned if isinstance(returned, tuple) else (returned,)
                given = _given(outputs, grad_outputs, guard)
                roots = [
                    (one, grad) for one, grad in zip(outputs, given, strict=True) if grad is not None and _differs(one)
                ]
                first = _grad([one for one, _ in roots], needed, [grad for _, grad in roots], create_graph=True)
                found = dict(zip(map(id, needed), first, strict=True)).get(id(leaves[edge]))
                if found is None or not found.requires_grad:
                    return [None] * len(arrays)
                second = _grad([found], needed, [guard.own(torch.from_numpy(gradient).to(found))])
                known = dict(zip(map(id, needed), second, strict=True))
                return [_fitted(known.get(id(one)), array) for one, array in zip(leaves, arrays, strict=True)]

        return run

    def _run(self, arguments: list[Any]) -> tuple[Any, tuple[Any, ...]]:
        """Call its forward with a ctx of its own."""
        ctx = self._ctx()
        ctx.needs_input_grad = tuple([slot is not None and slot.requires_grad for slot in self.slots])
        if self._separate:
            returned = self.cls.forward(*arguments)
            self.cls.setup_context(ctx, tuple(arguments), returned)
        else:
            returned = self.cls.forward(ctx, *arguments)
        return ctx, returned if isinstance(returned, tuple) else (returned,)

    def _gradients(self, ctx: Any, outputs: Sequence[Any], given: list[Any], arrays: Arrays) -> Sequence[Any]:
        """Call its backward: the gradients of the arguments that are tensors."""
        if ctx.materializes:
            given = [
                torch.zeros_like(one) if grad is None and isinstance(one, torch.Tensor) else grad
                for one, grad in zip(outputs, given, strict=True)
            ]
        boxed = getattr(self.cls, "boxed_grads_call", False)
        returned = self._backward(ctx, given) if boxed else self._backward(ctx, *given)
        several = returned if isinstance(returned, tuple) else (returned,)
        of_tensors = [one for one, slot in zip(several, self.slots, strict=False) if slot is not None]
        return [_fitted(one, array) for one, array in zip(of_tensors, arrays, strict=True)]


class OperationAgain(_Call):
    """The call of one of torch's own operations."""

    once_differentiable = True  # its second derivatives are torch's

    def __init__(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], arrays: Arrays
    ) -> None:
        super().__init__(args, arrays)
        self._function, self._kwargs = function, kwargs

    def forward(self, arrays: Arrays) -> Arrays:
        """Its outputs."""
        with one_run() as guard, self.as_it_was():
            return self._results(self._run(self.arguments(arrays, guard)))

    def backward(self, arrays: Arrays) -> Backward:
        """The backward of torch, after a forward on these arrays."""

        def run(output: int, gradient: Array) -> Sequence[Any]:
            with one_run() as guard, torch.enable_grad():
                arguments, leaves = self.leaves(arrays, guard)
                needed = [one for one in leaves if one.requires_grad]
                with self.as_it_was():
                    root = self._run(arguments)[output]
                found = _grad([root], needed, [guard.own(torch.from_numpy(gradient).to(root))])
                known = dict(zip(map(id, needed), found, strict=True))
                return [_fitted(known.get(id(one)), array) for one, array in zip(leaves, arrays, strict=True)]

        return run

    def _run(self, arguments: list[Any]) -> tuple[Any, ...]:
        returned = self._function(*arguments, **self._kwargs)
        return tuple(returned) if isinstance(returned, tuple | list) else (returned,)


def _grad(roots: Sequence[Any], inputs: Sequence[Any], given: Sequence[Any], *, create_graph: bool = False) -> Any:
    return torch.autograd.grad(roots, inputs, given, create_graph=create_graph, allow_unused=True)


def _given(outputs: Sequence[Any], grad_outputs: Sequence[Any], guard: Guard) -> list[Any]:
    """The gradients of the outputs as tensors in their dtypes."""
    return [
        None if grad is None or not isinstance(one, torch.Tensor)
        else guard.own(torch.from_numpy(np.array(grad, order="C")).to(one))
        for one, grad in zip(outputs, grad_outputs, strict=True)
    ]  # fmt: skip


def _differs(output: Any) -> bool:
    return isinstance(output, torch.Tensor) and output.requires_grad


def coarsest(tensors: Sequence[Any]) -> float:
    """The lowest machine precision of those tensors that are of a floating-point dtype."""
    return max([float(torch.finfo(one.dtype).eps) for one in tensors if one.dtype.is_floating_point], default=0.0)


def _array(tensor: Any) -> Array:
    """The elements of a tensor that was made in here."""
    with WithoutFunctionModes():
        tensor = tensor.detach().resolve_conj().resolve_neg().cpu()
        if tensor.dtype.is_floating_point and tensor.dtype not in (torch.float64, torch.float32, torch.float16):
            tensor = tensor.float()
        found: Array = tensor.numpy()
    return found


def _fitted(gradient: Any, array: Array) -> Array | None:
    """A gradient in the shape and dtype of its operand, as the engine delivers it."""
    if gradient is None:
        return None
    if tuple(gradient.shape) != array.shape:
        gradient = gradient.sum_to_size(array.shape)
    return _array(gradient).astype(array.dtype)


def is_once_differentiable(backward: Any) -> bool:
    """Whether `once_differentiable` is among the decorators of a backward."""
    while backward is not None:
        if getattr(backward, "__code__", None) is _ONCE.__code__:
            return True
        backward = getattr(backward, "__wrapped__", None)
    return False


def _ctx_of(cls: Any) -> Any:
    """The class of a ctx of the Function that belongs to no node."""
    kind = cls._backward_cls
    return type(kind)(kind.__name__, (kind,), dict(_OF_CTX))


def _set_materialize_grads(ctx: Any, value: bool) -> None:
    ctx.materializes = value


_SAVED = property(lambda ctx: ctx.to_save if ctx.to_save is not None else ())
_OF_CTX = {
    "saved_tensors": _SAVED,
    "saved_variables": _SAVED,
    "materializes": True,
    "set_materialize_grads": _set_materialize_grads,
}
