"""Products that are recorded as simpler ones: einsum, tensordot and inner as matrix products, kron as a
product of elements.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from microtape.ops.linear.product import bmm, mm, unsafe_view
from microtape.ops.reduction.sums_and_extrema import sum
from microtape.ops.shape.reshaping import expand, reshape, unsqueeze
from microtape.ops.shape.subviews import diagonal
from microtape.ops.shape.transposition import movedim, permute
from microtape.ops.shared.arguments import dim_index, sizes
from microtape.tape.tensor_state import TensorState

__all__ = ["einsum", "inner", "kron", "tensordot"]


def einsum(equation: str, *operands: Any) -> Any:
    """Einstein summation: "ij,jk->ik" multiplies matrices. A label that is not after the arrow is summed over.

    Without an arrow, labels that occur once remain, in alphabetical order; `...` stands for further dimensions, which
    broadcast. Raises RuntimeError if equation and operands do not fit.
    """
    if not isinstance(equation, str):
        raise TypeError(f"einsum(): argument 'equation' (position 1) must be str, not {type(equation).__name__}")
    tensors = operands[0] if len(operands) == 1 and not isinstance(operands[0], TensorState) else operands
    inputs, output = _parsed(equation, [tensor.ndim for tensor in tensors])
    _check_sizes(inputs, tensors)
    labelled = [_without_repeats(tensor, labels) for tensor, labels in zip(tensors, inputs, strict=True)]
    total, labels = labelled[0]
    for i, (tensor, its_labels) in enumerate(labelled[1:], 1):
        needed = set(output).union(*inputs[i + 1 :])
        total, labels = _product(total, labels, tensor, its_labels, needed)
    total, labels = _summed(total, labels, set(output))
    order = tuple([labels.index(label) for label in output])
    return total if order == tuple(range(len(order))) else permute(total, order)


def _parsed(equation: str, ndims: Sequence[int]) -> tuple[list[str], str]:
    """The labels of each operand and of the result; each dimension of `...` gets a label outside of ASCII."""
    for i, character in enumerate(equation):
        if not (character.isascii() and character.isalpha()) and character not in " .,->":
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {i} in the equation string, subscripts must be in [a-zA-Z]"
            )
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(ndims):
        raise RuntimeError(
            f"einsum(): {'more' if len(terms) < len(ndims) else 'fewer'} operands were provided than specified in the "
            "equation"
        )
    beyond = [ndim - len(term.replace("...", "")) for term, ndim in zip(terms, ndims, strict=True) if "..." in term]
    extra = max([0, *beyond])
    dots = "".join(chr(0x100 + i) for i in range(extra))
    inputs = []
    for i, (term, ndim) in enumerate(zip(terms, ndims, strict=True)):
        named = term.replace("...", "")
        if not (named.isascii() and (named.isalpha() or not named)):
            raise RuntimeError(f"einsum(): invalid subscript given in the equation: {equation}")
        count = ndim - len(named) if "..." in term else 0
        labels = term.replace("...", dots[extra - count :])
        if len(labels) != ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(named)}) does not match the number of "
                f"dimensions ({ndim}) for operand {i} and no ellipsis was given"
            )
        inputs.append(labels)
    every = "".join(inputs)
    once = "".join(sorted(label for label in every if every.count(label) == 1 and label not in dots))
    output = right.replace("...", dots) if arrow else dots + once
    for label in output:
        if output.count(label) > 1:
            raise RuntimeError(f"einsum(): output subscript {label} appears more than once in the output")
        if label not in every:
            raise RuntimeError(
                f"einsum(): output subscript {label} does not appear in the equation for any input operand"
            )
    return inputs, output


def _check_sizes(inputs: Sequence[str], tensors: Sequence[Any]) -> None:
    """Raise RuntimeError if a label stands for two different sizes, neither of them 1."""
    seen: dict[str, int] = {}
    for i, (labels, tensor) in enumerate(zip(inputs, tensors, strict=True)):
        for label, size in zip(labels, tensor.shape, strict=True):
            if size != 1 and seen.setdefault(label, size) != size:
                raise RuntimeError(
                    f"einsum(): subscript {label} has size {size} for operand {i} which does not broadcast with "
                    f"previously seen size {seen[label]}"
                )


def _without_repeats(x: Any, labels: str) -> tuple[Any, str]:
    """x and its labels, reduced to the diagonal for a label that occurs twice."""
    for label in labels:
        while labels.count(label) > 1:
            first, second = labels.index(label), labels.rindex(label)
            x = movedim(diagonal(x, 0, first, second), -1, first)
            labels = labels[:second] + labels[second + 1 :]
    return x, labels


def _summed(x: Any, labels: str, needed: set[str]) -> tuple[Any, str]:
    """x summed over the labels that are no longer needed."""
    dims = tuple([i for i, label in enumerate(labels) if label not in needed])
    return (sum(x, dims), "".join(label for label in labels if label in needed)) if dims else (x, labels)


def _product(x: Any, xs: str, y: Any, ys: str, needed: set[str]) -> tuple[Any, str]:
    """x times y, summed over the labels that only these two have: a batch of matrix products."""
    x, xs = _summed(x, xs, needed | set(ys))
    y, ys = _summed(y, ys, needed | set(xs))
    inner = [label for label in xs if label in ys and label not in needed]
    lead = [label for label in xs if label in ys and label in needed]
    rows, columns = [label for label in xs if label not in ys], [label for label in ys if label not in xs]
    if not inner:
        order = lead + rows + columns
        return _aligned(x, xs, order) * _aligned(y, ys, order), "".join(order)
    size_of = dict(zip(ys, y.shape, strict=True))
    size_of |= {label: size for label, size in zip(xs, x.shape, strict=True) if size != 1 or label not in size_of}
    n, r, k, c = (math.prod([size_of[label] for label in group]) for group in (lead, rows, inner, columns))
    a = reshape(_widened(x, xs, lead + rows + inner, size_of), (n, r, k))
    b = reshape(_widened(y, ys, lead + inner + columns, size_of), (n, k, c))
    labels = lead + rows + columns
    return reshape(bmm(a, b), tuple([size_of[label] for label in labels])), "".join(labels)


def _aligned(x: Any, labels: str, order: Sequence[str]) -> Any:
    """x with its dimensions in that order, and new ones of size 1 for labels that it lacks."""
    x = permute(x, tuple([labels.index(label) for label in order if label in labels]))
    for dim, label in enumerate(order):
        if label not in labels:
            x = unsqueeze(x, dim)
    return x


def _widened(x: Any, labels: str, order: Sequence[str], size_of: dict[str, int]) -> Any:
    """x with its dimensions in that order, expanded to those sizes."""
    x = permute(x, tuple([labels.index(label) for label in order]))
    shape = tuple([size_of[label] for label in order])
    return x if tuple(x.shape) == shape else expand(x, shape)


def tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
    """The sum of products over the last `dims` dimensions of `a` and the first of `b`, or over those named.

    A dimension of size 1 fits any other. Raises RuntimeError if other sizes differ.
    """
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        dims = (range(-dims, 0), range(dims))
    named_a, named_b = sizes((dims[0],)), sizes((dims[1],))
    if len(named_a) != len(named_b):
        raise RuntimeError("both dimension lists should have same length")
    over_a, over_b = [dim_index(dim, a.ndim) for dim in named_a], [dim_index(dim, b.ndim) for dim in named_b]
    for i, j, name_a, name_b in zip(over_a, over_b, named_a, named_b, strict=True):
        m, n = a.shape[i], b.shape[j]
        if m != n and 1 not in (m, n):
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {m} in dim {name_a} and second has size {n} "
                f"in dim {name_b}"
            )
        if n == 1 != m:
            a = sum(a, i, True, dtype=a.dtype)
        elif m == 1 != n:
            b = sum(b, j, True, dtype=b.dtype)
    free_a = [dim for dim in range(a.ndim) if dim not in over_a]
    free_b = [dim for dim in range(b.ndim) if dim not in over_b]
    shape = [a.shape[dim] for dim in free_a] + [b.shape[dim] for dim in free_b]
    inner = math.prod([a.shape[dim] for dim in over_a])
    left = reshape(permute(a, free_a + over_a), (math.prod([a.shape[dim] for dim in free_a]), inner))
    right = reshape(permute(b, over_b + free_b), (inner, math.prod([b.shape[dim] for dim in free_b])))
    return reshape(mm(left, right), tuple(shape))


def inner(input: Any, other: Any) -> Any:
    """The sum of products over the last dimension of both."""
    if not input.ndim or not other.ndim:
        return input * other
    if input.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(input.shape)} and {list(other.shape)}"
        )
    return tensordot(input, other, ([-1], [-1]))


def kron(input: Any, other: Any) -> Any:
    """The Kronecker product: each element of `input` is replaced by that element times `other`."""
    ndim = max(input.ndim, other.ndim)
    a, b = (reshape(one, (1,) * (ndim - one.ndim) + tuple(one.shape)) for one in (input, other))
    pairs_a = tuple([size for pair in zip(a.shape, (1,) * ndim, strict=True) for size in pair])
    pairs_b = tuple([size for pair in zip((1,) * ndim, b.shape, strict=True) for size in pair])
    shape = tuple([m * n for m, n in zip(a.shape, b.shape, strict=True)])
    return unsafe_view(reshape(a, pairs_a) * reshape(b, pairs_b), shape)
