"""What the products of `functional` have in common: the user's structures, and strict mode.

Note [Structures]
  A function's inputs are one tensor or a tuple of them, and so are its outputs. Results follow: the gradient of a tuple
  of inputs is a tuple, the Jacobian of a tuple of outputs by a tuple of inputs is a tuple of tuples.

Note [Strict mode]
  A result that does not depend on an input has a derivative of zero there. That is right, but often a sign of a
  mistake: with `strict=True` it is an error that names the input.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from microtape.tensors.factories import zeros_like
from microtape.tensors.tensor import Tensor

INDEPENDENT_OUTPUT = (
    "Output {i} of the user-provided function does not require gradients. The outputs must be computed in a "
    "differentiable manner from the input when running in strict mode."
)
INDEPENDENT_INPUT = (
    "The output of the user-provided function is independent of input {i}. This is not allowed in strict mode."
)
INDEPENDENT_PAIR = (
    "Output {output} of the user-provided function is independent of input {i}. This is not allowed in strict mode."
)
INDEPENDENT_GRADIENT = (
    "The gradient with respect to input {i} is independent of the inputs of the user-provided function. This is not "
    "allowed in strict mode."
)
INDEPENDENT_SEED = (
    "The gradient with respect to the input is independent of entry {i} in the grad_outputs when using the double "
    "backward trick to compute forward mode gradients. This is not allowed in strict mode."
)
LINEAR = (
    "While computing the hessian, found that the jacobian of the user-provided function with respect to input {i} is "
    "independent of the input. This is not allowed in strict mode. You should ensure that your function is twice "
    "differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for "
    "example)."
)
CONSTANT_JACOBIAN = (
    "The jacobian of the user-provided function is independent of input {i}. This is not allowed in strict mode."
)
CONSTANT_JACOBIAN_GRAPH = (
    "The jacobian of the user-provided function is independent of input {i}. This is not allowed in strict mode when "
    "create_graph=True."
)
CONSTANT_HESSIAN = (
    "The hessian of the user-provided function is independent of entry {i} in the grad_jacobian. This is not allowed "
    "in strict mode as it prevents from using the double backward trick to replace forward mode AD."
)
CONSTANT_HESSIAN_GRAPH = (
    "The hessian of the user-provided function is independent of input {i}. This is not allowed in strict mode when "
    "create_graph=True."
)


class Several(NamedTuple):
    """Tensors of the user's: one alone, or a tuple of them. See Note [Structures]."""

    tensors: tuple[Tensor, ...]
    in_tuple: bool

    def like(self, values: Sequence[Any]) -> Any:
        """Values, one for each tensor, in the structure of the tensors."""
        return tuple(values) if self.in_tuple else values[0]


def several(value: Any, what: str, function: str) -> Several:
    """A tensor or a tuple of them; TypeError, with what `what` of `function` was, for anything else."""
    in_tuple = isinstance(value, tuple)
    tensors = value if in_tuple else (value,)
    for i, one in enumerate(tensors):
        if not isinstance(one, Tensor):
            place = f"value at index {i}" if in_tuple else f"given {what}"
            raise TypeError(
                f"The {what} given to {function} must be either a Tensor or a tuple of Tensors but the {place} has "
                f"type {type(one)}."
            )
    return Several(tensors, in_tuple)


def fresh(tensors: Sequence[Tensor], create_graph: bool) -> tuple[Tensor, ...]:
    """New objects for the inputs: the same tensor may reach `func` in another way too, where it is a constant."""
    return tuple(
        tensor.view_as(tensor) if create_graph and tensor.requires_grad else tensor.detach().requires_grad_()
        for tensor in tensors
    )


def vector(v: Any, other: Several, function: str, create_graph: bool) -> tuple[Tensor, ...]:
    """The `v` of a product, checked against the tensors `other` whose shapes it must have."""
    tensors = several(v, "v", function).tensors
    if len(tensors) != len(other.tensors):
        if other.in_tuple:
            raise RuntimeError(
                f"v is a tuple of invalid length: should be {len(other.tensors)} but got {len(tensors)}."
            )
        raise RuntimeError("The given v should contain a single Tensor.")
    for i, (one, like) in enumerate(zip(tensors, other.tensors, strict=True)):
        if one.shape != like.shape:
            entry = f"Entry {i} in " if other.in_tuple else ""
            raise RuntimeError(f"{entry}v has invalid size: should be {like.shape} but got {one.shape}.")
    return tuple(one.view_as(one) if create_graph and one.requires_grad else one.detach() for one in tensors)


def vector_of_inputs(v: Any, inputs: Several, function: str, create_graph: bool) -> tuple[Tensor, ...] | None:
    """The `v` of a product with inputs; None stands for one, where there is one input of one element."""
    if v is not None:
        return vector(v, inputs, function, create_graph)
    if len(inputs.tensors) != 1 or inputs.tensors[0].numel() != 1:
        raise RuntimeError(
            "The vector v can only be None if the input to the user-provided function is a single Tensor with a single "
            "element."
        )
    return None


def detached(tensors: Sequence[Any], create_graph: bool) -> list[Any]:
    """Results, without history unless it was asked for."""
    return list(tensors) if create_graph else [tensor.detach() for tensor in tensors]


def finished(outputs: Several, create_graph: bool) -> Any:
    """The outputs of `func` as they are given back."""
    return outputs.like(detached(outputs.tensors, create_graph))


def check_depends(tensors: Sequence[Tensor | None], if_missing: str, if_constant: str) -> None:
    """Raise RuntimeError where a tensor is missing, or has no history; see Note [Strict mode]."""
    for i, tensor in enumerate(tensors):
        if tensor is None:
            raise RuntimeError(if_missing.format(i=i))
        if not tensor.requires_grad:
            raise RuntimeError(if_constant.format(i=i))


def filled(
    products: Sequence[Tensor | None],
    like: Sequence[Tensor],
    create_graph: bool,
    strict: bool,
    if_missing: str,
    if_constant: str,
) -> list[Tensor]:
    """The products, with zeros for those that are missing, or the errors of strict mode."""
    if strict:
        for i, product in enumerate(products):
            if product is None:
                raise RuntimeError(if_missing.format(i=i))
            if create_graph and not product.requires_grad:
                raise RuntimeError(if_constant.format(i=i))
    return [zeros_like(x) if product is None else product for product, x in zip(products, like, strict=True)]
