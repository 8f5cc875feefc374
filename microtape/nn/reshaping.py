"""Layers that only change the shape, and layers that cut and join patches."""

from __future__ import annotations

from typing import Any

from microtape.nn import functional
from microtape.nn.function_module import REQUIRED, FunctionModule
from microtape.ops.shape import reshaping

_PATCHES = {"kernel_size": REQUIRED, "dilation": 1, "padding": 0, "stride": 1}


class Flatten(FunctionModule):
    """All dimensions from `start_dim` to `end_dim` as one: by default (N, ...) to (N, rest)."""

    function, options = reshaping.flatten, {"start_dim": 1, "end_dim": -1}
    shown = ("start_dim", "end_dim")


class Unflatten(FunctionModule):
    """Dimension `dim` as several, `unflattened_size`. Raises TypeError unless that is a tuple of ints."""

    function, options = reshaping.unflatten, {"dim": REQUIRED, "unflattened_size": REQUIRED}
    shown = ("dim", "unflattened_size")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sizes = self.unflattened_size
        if not isinstance(sizes, tuple | list):
            raise TypeError(f"unflattened_size must be a tuple of ints, but found type {type(sizes).__name__}")
        for place, size in enumerate(sizes):
            if not isinstance(size, int):
                raise TypeError(
                    "unflattened_size must be tuple of ints, "
                    f"but found element of type {type(size).__name__} at pos {place}"
                )

    def given(self) -> dict[str, Any]:
        """The options under the function's names."""
        return {"dim": self.dim, "sizes": self.unflattened_size}


class Unfold(FunctionModule):
    """The patches of (N, C, H, W) as columns: (N, C · patch, patches)."""

    function, options, shown = functional.unfold, _PATCHES, tuple(_PATCHES)


class Fold(FunctionModule):
    """Columns of patches, added up where they overlap: (N, C · patch, patches) to (N, C, *output_size)."""

    function, options = functional.fold, {"output_size": REQUIRED, **_PATCHES}
    shown = ("output_size", *_PATCHES)
