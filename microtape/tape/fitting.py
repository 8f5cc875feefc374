"""Fitting a gradient to its receiver: the shape, the dtype, and the conjugate convention for complex numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from microtape.errors import GradientError
from microtape.tape.broadcast import unbroadcast
from microtape.tape.node import Node


def fit_gradients(node: Node, gradients: Sequence[Any]) -> list[Any]:
    """A node's gradients in the shapes and dtypes that their receivers expect. Raises as `fit_gradient` does."""
    return [
        term if term is None or receiver is None else fit_gradient(node, i, term, *receiver.output_spec(input_nr))
        for i, ((receiver, input_nr), term) in enumerate(zip(node.next_edges, gradients, strict=True))
    ]


def fit_gradient(node: Node, output: int, term: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """`term` in the shape and dtype that its receiver expects: broadcasting is undone here, once for all formulas.

    `output` is the index of `term` among the gradients of `node`. Raises GradientError if `term` does not have a shape
    that `shape` broadcasts to.
    """
    if term.shape != shape:
        if not _is_expandable(shape, term.shape):
            raise GradientError(
                f"Function {node.name()} returned an invalid gradient at index {output} - got {list(term.shape)} but "
                f"expected shape compatible with {list(shape)}",
                ("forward", node.call_site),
            )
        term = unbroadcast(term, tuple(shape))
    return term if dtype is None or term.dtype == dtype else _cast(term, dtype)  # None: any dtype


def conjugate(gradient: Any) -> Any:
    """The complex conjugate of a gradient, or of each gradient in a list or tuple; real gradients stay as they are.

    torch's gradient of a real loss L is ∂L/∂z̄, so the chain rule of a holomorphic f is g · conj(f′(x)) and not
    g · f′(x). A formula that computes g · f′(x) is right for both if its input and its output are conjugated.
    """
    if isinstance(gradient, (list, tuple)):
        return [conjugate(each) for each in gradient]
    return gradient.conj() if gradient is not None and gradient.dtype.kind == "c" else gradient


def _is_expandable(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Whether an array of this shape broadcasts to `to`."""
    lead = len(to) - len(shape)
    return lead >= 0 and (
        shape == to[lead:] or all([size in (1, target) for size, target in zip(shape, to[lead:], strict=True)])
    )


def _cast(term: Any, dtype: Any) -> Any:
    """A gradient in the dtype of its input: the real part if that is a real dtype."""
    if term.dtype.kind == "c" and dtype.kind != "c":
        term = term.real
    return term.astype(dtype) if isinstance(term, (np.ndarray, np.generic)) else term.to(dtype)
