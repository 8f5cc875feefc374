"""The structure of a function's inputs and outputs, which the results of `functional` follow.

Note [Structures]
  A function's inputs are one tensor or a tuple of tensors, and so are its outputs. Results have the same structure: the
  gradient of a tuple of inputs is a tuple; the Jacobian of a tuple of outputs by a tuple of inputs is a tuple of
  tuples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from microtape.tensors.tensor import Tensor


class Structure(NamedTuple):
    """One tensor, or a tuple of tensors, as the user gave it. See Note [Structures]."""

    tensors: tuple[Tensor, ...]
    in_tuple: bool

    def like(self, values: Sequence[Any]) -> Any:
        """`values`, one for each tensor, as one value or a tuple, like the tensors."""
        return tuple(values) if self.in_tuple else values[0]


def structure_of(value: Any, what: str, function: str) -> Structure:
    """A tensor or a tuple of tensors as a Structure. Raises TypeError, naming `function` and `what`, for others."""
    in_tuple = isinstance(value, tuple)
    tensors = value if in_tuple else (value,)
    for i, one in enumerate(tensors):
        if not isinstance(one, Tensor):
            place = f"value at index {i}" if in_tuple else f"given {what}"
            raise TypeError(
                f"The {what} given to {function} must be either a Tensor or a tuple of Tensors but the {place} has "
                f"type {type(one)}."
            )
    return Structure(tensors, in_tuple)


def fresh(tensors: Sequence[Tensor], create_graph: bool) -> tuple[Tensor, ...]:
    """New tensors to differentiate with respect to, in place of the inputs.

    `func` may also use an input as a global or in a closure: there, the original tensor counts as a constant.
    """
    return tuple(
        tensor.view_as(tensor) if create_graph and tensor.requires_grad else tensor.detach().requires_grad_()
        for tensor in tensors
    )


def vector(v: Any, other: Structure, function: str, create_graph: bool) -> tuple[Tensor, ...]:
    """The `v` of a product. Raises RuntimeError unless it has as many tensors as `other`, and their shapes."""
    tensors = structure_of(v, "v", function).tensors
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


def vector_of_inputs(v: Any, inputs: Structure, function: str, create_graph: bool) -> tuple[Tensor, ...] | None:
    """The `v` of a product, in the shape of the inputs; None, which means 1, is allowed for a single element."""
    if v is not None:
        return vector(v, inputs, function, create_graph)
    if len(inputs.tensors) != 1 or inputs.tensors[0].numel() != 1:
        raise RuntimeError(
            "The vector v can only be None if the input to the user-provided function is a single Tensor with a single "
            "element."
        )
    return None


def detached(tensors: Sequence[Any], create_graph: bool) -> list[Any]:
    """The tensors, detached unless `create_graph` asks for their history."""
    return list(tensors) if create_graph else [tensor.detach() for tensor in tensors]


def finished(outputs: Structure, create_graph: bool) -> Any:
    """The outputs of `func` as they are returned to the user: in their structure, detached unless `create_graph`."""
    return outputs.like(detached(outputs.tensors, create_graph))
