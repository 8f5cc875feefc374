"""Strict mode of `functional`: its messages, and the checks that raise them.

Note [Strict mode]
  The derivative of a result with respect to an input that it does not depend on is zero. That is right, but often the
  sign of a mistake: with `strict=True` it is an error that names the input.
"""

from __future__ import annotations

from collections.abc import Sequence

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


def check_depends(tensors: Sequence[Tensor | None], if_missing: str, if_constant: str) -> None:
    """Raise RuntimeError for a tensor that is None or has no history; see Note [Strict mode]."""
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
    """The products, with zeros in place of None. In strict mode raises RuntimeError instead; see Note [Strict mode]."""
    if strict:
        for i, product in enumerate(products):
            if product is None:
                raise RuntimeError(if_missing.format(i=i))
            if create_graph and not product.requires_grad:
                raise RuntimeError(if_constant.format(i=i))
    return [zeros_like(x) if product is None else product for product, x in zip(products, like, strict=True)]
