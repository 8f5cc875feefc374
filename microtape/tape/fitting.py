"""Making a gradient what its receiver expects: its shape, its dtype, and conjugate where numbers are complex."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from microtape.errors import GradientError
from microtape.tape.broadcast import unbroadcast
from microtape.tape.node import Node


def fit_gradients(node: Node, gradients: Sequence[Any]) -> list[Any]:
    """A node's gradients in the shapes and dtypes that their receivers expect."""
    return [
        term if term is None or receiver is None else fit_gradient(node, i, term, *receiver.output_spec(input_nr))
        for i, ((receiver, input_nr), term) in enumerate(zip(node.next_edges, gradients, strict=True))
    ]


def fit_gradient(node: Node, output: int, term: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """`term` in the shape and dtype that its receiver expects: broadcasting is undone here, once for all formulas.

    Raises GradientError where the shape cannot be reduced to what is expected.
    """
    if term.shape != shape:
        if not _is_expandable(shape, term.shape):
            raise GradientError(
                f"Function {node.name()} returned an invalid gradient at index {output} - got {list(term.shape)} but "
                f"expected shape compatible with {list(shape)}",
                ("forward", node.call_site),
            )
        term = unbroadcast(term, tuple(shape))
    return term if dtype is None or term.dtype == dtype else _cast(term, dtype)  # None: a leaf takes any


def conjugate(gradient: Any) -> Any:
    """The complex conjugate, of one gradient or several.

    torch's gradient of a real loss L is ∂L/∂z̄, which turns g · f′(x) into g · conj(f′(x)). Conjugating what goes into
    a formula and what comes out of it does that for every holomorphic operation at once.
    """
    if isinstance(gradient, list | tuple):
        return [conjugate(one) for one in gradient]
    return gradient.conj() if gradient is not None and gradient.dtype.kind == "c" else gradient


def _is_expandable(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Whether an array of this shape broadcasts to `to`."""
    lead = len(to) - len(shape)
    return lead >= 0 and (
        shape == to[lead:] or all([size in (1, wanted) for size, wanted in zip(shape, to[lead:], strict=True)])
    )


def _cast(term: Any, dtype: Any) -> Any:
    """A gradient in its input's dtype: the real part, where that is real."""
    if term.dtype.kind == "c" and dtype.kind != "c":
        term = term.real
    return term.astype(dtype) if isinstance(term, np.ndarray | np.generic) else term.to(dtype)
