"""Gradient clipping, for use between `backward()` and the step, and all parameters as one vector."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from microtape.absent import lacking as _lacking
from microtape.nn.registry import typename
from microtape.ops.elementwise.selection import clamp_, clamp_max
from microtape.ops.reduction.statistics import vector_norm
from microtape.ops.shape.joining import cat, stack
from microtape.tape.grad_mode import no_grad
from microtape.tensors.factories import tensor
from microtape.tensors.tensor import Tensor


@no_grad()
def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale all gradients by one factor, so that their joint norm is at most `max_norm` (Pascanu et al., 2013).

    Writes to the `.grad` of the parameters, of any shapes. Returns the norm before, a 0-d tensor. With
    `error_if_nonfinite`, raises RuntimeError if it is NaN or infinite. `foreach`, for speed in torch, does nothing.
    """
    gradients = list(_gradients_of(parameters))
    if not gradients:
        return tensor(0.0)
    norms = [vector_norm(gradient, norm_type) for gradient in gradients]
    total: Any = vector_norm(stack(norms), norm_type)
    if error_if_nonfinite and not total.isfinite():
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be "
            "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    factor = clamp_max(max_norm / (total + 1e-6), 1.0)
    for gradient in gradients:
        gradient.mul_(factor)
    return total  # type: ignore[no-any-return]


@no_grad()
def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Clamp every element of every gradient to [-clip_value, clip_value], in place, whatever its shape."""
    for gradient in _gradients_of(parameters):
        clamp_(gradient, -clip_value, clip_value)


def _gradients_of(parameters: Tensor | Iterable[Tensor]) -> Iterable[Any]:
    """The gradients of the parameters that have one."""
    every = [parameters] if isinstance(parameters, Tensor) else parameters
    return (parameter.grad for parameter in every if parameter.grad is not None)


def parameters_to_vector(parameters: Iterable[Tensor]) -> Any:
    """The elements of all tensors, one after the other: (n,)."""
    return cat([parameter.reshape(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Set the memory of the tensors to slices of `vec`, (n,). Raises TypeError if that is not a tensor."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected microtape.Tensor, but got: {typename(vec)}")
    start = 0
    for parameter in parameters:
        parameter.data = vec[start : start + parameter.numel()].view_as(parameter).data
        start += parameter.numel()


__getattr__ = _lacking(__name__)
