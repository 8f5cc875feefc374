"""Printing tensors: character by character as torch prints them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from microtape.basics import dtypes
from microtape.errors import AutogradError
from microtape.tape.tangents import tangent_of
from microtape.tape.tensor_state import Array, requires_grad

if TYPE_CHECKING:
    from microtape.tensors.tensor import Tensor


class Options:
    """How tensors are printed."""

    precision = 4  # decimals
    threshold = 1000  # of a larger tensor only the first and last `edgeitems` entries of a dimension are shown
    edgeitems = 3
    linewidth = 80
    sci_mode: bool | None = None  # None: where the numbers need it


options = Options()
_PROFILES = {"default": (4, 1000, 3, 80), "short": (2, 1000, 2, 80), "full": (4, math.inf, 3, 80)}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Change how tensors are printed; what is None stays, but `sci_mode`, which None sets to automatic.

    The `profile` ("default", "short" or "full") sets the other options before they are read. Raises ValueError for
    another one.
    """
    given: tuple[Any, ...] = (precision, threshold, edgeitems, linewidth)
    if profile is not None:
        if profile not in _PROFILES:
            raise ValueError(f"profile is one of {', '.join(_PROFILES)}, not {profile!r}")
        given = tuple([b if a is None else a for a, b in zip(given, _PROFILES[profile], strict=True)])
    for name, value in zip(("precision", "threshold", "edgeitems", "linewidth"), given, strict=True):
        if value is not None:
            setattr(options, name, value)
    options.sci_mode = sci_mode


Format = Callable[[Any], str]


def represent(tensor: Tensor) -> str:
    """The text of a tensor: `tensor([1., 2.], requires_grad=True)`; the dtype only if it is not a default one."""
    prefix = "tensor("
    text = prefix + _elements(tensor.array, len(prefix))
    last_line = len(text) - text.rfind("\n") + 1
    for part in _suffixes(tensor):
        if last_line + len(part) + 2 > options.linewidth:
            text += ",\n" + " " * len(prefix) + part
            last_line = len(prefix) + len(part)
        else:
            text += ", " + part
            last_line += len(part) + 2
    return text + ")"


def _suffixes(tensor: Tensor) -> list[str]:
    """The parts after the elements: size, dtype, grad_fn or requires_grad, tangent."""
    array = tensor.array
    default = dtypes.get_default_dtype()
    parts = []
    if array.size == 0 and array.ndim != 1:
        parts.append(f"size={tuple(array.shape)}")
    usual = (default,) if array.size == 0 else (default, np.result_type(default, 1j), dtypes.int64, dtypes.bool)
    if array.dtype not in usual:
        parts.append(f"dtype=microtape.{array.dtype.name}")
    try:
        node = tensor.grad_fn
    except AutogradError:
        parts.append("grad_fn=<Invalid>")
    else:
        if node is not None:
            parts.append(f"grad_fn=<{node.name().rpartition('::')[2]}>")
        elif requires_grad(tensor):
            parts.append("requires_grad=True")
    tangent = tangent_of(tensor)
    if tangent is not None:
        parts.append(f"tangent={tangent}")
    return parts


def _elements(array: Array, indent: int) -> str:
    """The elements in nested brackets; lines after the first are indented."""
    if not array.size:
        return "[]"
    cut = array.size > options.threshold
    shown = _edge_entries(array) if cut else array
    one, width = _complex_formatter(shown) if array.dtype.kind == "c" else _formatter(shown)
    return _nested(array, indent, one, width, cut)


def _edge_entries(array: Array) -> Array:
    """The first and last few entries along each dimension that has many."""
    edge = options.edgeitems
    for dim, size in enumerate(array.shape):
        if size > 2 * edge:
            array = array.take([*range(edge), *range(size - edge, size)], axis=dim)
    return array


def _formatter(shown: Array) -> tuple[Format, int]:
    """The format of these numbers and the common width of their texts; zeros, NaN and Inf may be wider."""
    if shown.dtype.kind != "f":
        width = max(len(str(value)) for value in shown.ravel().tolist())
        return lambda value: str(value).rjust(width), width
    sizes = np.abs(shown[np.isfinite(shown) & (shown != 0)].astype(np.float64))
    whole = bool(np.all(sizes == np.ceil(sizes)))
    scientific = options.sci_mode
    if scientific is None:
        spread = sizes.size > 0 and (sizes.max() / sizes.min() > 1000 or sizes.max() > 1e8 or sizes.min() < 1e-4)
        scientific = bool(spread)

    def text(value: float) -> str:
        if scientific:
            return f"{value:.{options.precision}e}"
        if whole:
            return f"{value:.0f}." if np.isfinite(value) else f"{value:.0f}"
        return f"{value:.{options.precision}f}"

    measured = shown[np.isfinite(shown) & (shown != 0)].tolist()
    width = max((len(text(value)) for value in measured), default=1)
    return lambda value: text(value).rjust(width), width


def _complex_formatter(shown: Array) -> tuple[Format, int]:
    """Like `_formatter`, for complex numbers."""
    real, real_width = _formatter(shown.real)
    imaginary, imaginary_width = _formatter(shown.imag)

    def text(value: complex) -> str:
        part = imaginary(value.imag).lstrip()
        return real(value.real) + (part if part[0] in "+-" else "+" + part) + "j"

    return text, real_width + imaginary_width + 1


def _nested(array: Array, indent: int, one: Format, width: int, cut: bool) -> str:
    """The elements in nested brackets, each `width` wide; with `cut`, "..." stands for the inner entries."""
    if array.ndim == 0:
        return one(array.item())
    edge = options.edgeitems
    few = cut and len(array) > 2 * edge
    parts = [array[:edge], array[len(array) - edge :]] if few else [array]
    if array.ndim == 1:
        items = [[one(value) for value in part.tolist()] for part in parts]
        flat = [*items[0], " ...", *items[1]] if few else items[0]
        per_line = max(1, (options.linewidth - indent) // (width + 2))
        lines = [", ".join(flat[i : i + per_line]) for i in range(0, len(flat), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    rows = [[_nested(row, indent + 1, one, width, cut) for row in part] for part in parts]
    flat = [*rows[0], "...", *rows[1]] if few else rows[0]
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(flat) + "]"


__all__ = ["set_printoptions"]
