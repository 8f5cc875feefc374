"""Padding: a constant, reflected, repeated or wrapped elements around a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from microtape.ops.indexing.index import IndexBackward0
from microtape.tape.operands import number_as
from microtape.tape.operation import Operation, call


class ConstantPadNdBackward0(Operation):
    """Padding with a constant; negative widths crop."""

    __slots__ = ("value", "widths")
    row_major = True
    formula = "z = x with n around it    ∂x = the middle of g"
    op = "pad"

    def __init__(self, widths: tuple[tuple[int, int], ...], value: float) -> None:
        super().__init__()
        self.widths, self.value = widths, value

    def forward(self, x: Any) -> Any:
        kept = tuple([slice(max(-a, 0), x.shape[i] - max(-b, 0)) for i, (a, b) in enumerate(self.widths)])
        return np.pad(
            x[kept], [(max(a, 0), max(b, 0)) for a, b in self.widths], constant_values=number_as(self.value, x.dtype)
        )

    def grad_x(self, g: Any) -> Any:
        return call(ConstantPadNdBackward0(tuple([(-a, -b) for a, b in self.widths]), 0), g)


_NUMPY_MODES = {"reflect": "reflect", "replicate": "edge"}
_NODES = {"reflect": "ReflectionPad", "replicate": "ReplicationPad", "circular": "CircularPad"}
_FORMULA = "z = x, padded with its own elements    ∂xᵢ = Σ g wherever xᵢ was copied to"
_CLASSES: dict[tuple[str, int], type[IndexBackward0]] = {
    (mode, dims): type(
        f"{name}{dims}DBackward0", (IndexBackward0,), {"__slots__": (), "formula": _FORMULA, "op": "pad"}
    )
    for mode, name in _NODES.items()
    for dims in (1, 2, 3)
}
"""The operations, which pick elements by index, under torch's names. NB: torch's circular padding writes slices."""


def pad(input: Any, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Any:
    """`input` with elements added around it: `pad` has the widths before and after, the last dimension first.

    `mode` says which elements: "constant" the number `value`, "reflect" the mirrored inside, "replicate" the edge,
    "circular" the elements at the other end. Negative widths crop.

    Raises RuntimeError for widths that are too many or too large, NotImplementedError for dimensions that a mode other
    than "constant" cannot pad: it pads up to three, with one or two dimensions in front of them.
    """
    if mode != "constant" and mode not in _NODES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {input.ndim}"
        )
    given = [(int(pad[i]), int(pad[i + 1])) for i in range(0, len(pad), 2)]
    widths = tuple([(0, 0)] * (input.ndim - len(given)) + given[::-1])
    if mode == "constant":
        if any([size - max(-a, 0) - max(-b, 0) < 0 for size, (a, b) in zip(input.shape, widths, strict=True)]):
            raise RuntimeError("narrow(): length must be non-negative.")
        return call(ConstantPadNdBackward0(widths, float(value or 0)), input)
    if value is not None:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if input.ndim - len(given) not in (1, 2) or len(given) > 3:
        raise NotImplementedError(
            f"Padding size {len(pad)} is not supported for {input.ndim}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    _check_room(mode, tuple(input.shape), given)
    places = [_picked(mode, size, width) for size, width in zip(input.shape, widths, strict=True)]
    return call(_CLASSES[mode, len(given)](np.ix_(*places)), input)


def _check_room(mode: str, shape: tuple[int, ...], given: Sequence[tuple[int, int]]) -> None:
    """Raise RuntimeError if `input` is too small for the widths `given`, the last dimension's first."""
    sizes = [(dim, shape[dim], *width) for dim, width in zip(range(len(shape) - 1, -1, -1), given, strict=False)]
    if mode == "circular":
        for _, size, before, after in sizes:
            if max(before, after) > size:
                raise RuntimeError("Padding value causes wrapping around more than once.")
            if size + before + after < 0:
                raise RuntimeError("Negative padding value is resulting in an empty dimension")
        return
    if 0 in shape[len(shape) - len(given) - 1 :]:
        raise RuntimeError(
            f"Expected {len(given) + 1}D or {len(given) + 2}D (batch mode) tensor with possibly 0 batch size and other "
            f"non-zero dimensions for input, but got: {list(shape)}"
        )
    for number, (dim, size, before, after) in enumerate(sizes, 2):
        if mode == "reflect" and max(before, after) >= size:
            raise RuntimeError(
                f"Argument #{2 * number}: Padding size should be less than the corresponding input dimension, but got: "
                f"padding ({before}, {after}) at dimension {dim} of input {list(shape)}"
            )
        if len(given) == 1 and size + before + after < 1:
            raise RuntimeError(f"input (W: {size}) is too small. Calculated output W: {size + before + after}")


def _picked(mode: str, size: int, width: tuple[int, int]) -> Any:
    """The indices, below `size`, of the elements along a padded dimension."""
    before, after = width
    more, fewer = (max(before, 0), max(after, 0)), (max(-before, 0), max(-after, 0))
    places = np.arange(size)
    if mode == "circular":  # wraps what is left after cropping; other modes also use what is cropped
        return np.pad(places[fewer[0] : len(places) - fewer[1]], more, "wrap")
    places = np.pad(places, more, _NUMPY_MODES[mode])  # type: ignore[call-overload]
    return places[fewer[0] : len(places) - fewer[1]]
