"""Which elements a kernel covers at each place: common to convolutions, patches and pooling."""

from __future__ import annotations

import itertools
import math
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from microtape.tape.tensor_state import Array

_ALL = slice(None)


class Geometry:
    """A kernel that slides over images. x is (n, channels, *size), w is (outputs, channels / groups, *kernel).

    What follows from these sizes is computed once: for small images it would take longer than the convolution.
    """

    def __init__(
        self,
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        dilation: tuple[int, ...],
        groups: int,
        x_shape: tuple[int, ...],
        w_shape: tuple[int, ...],
        out_size: tuple[int, ...],
    ) -> None:
        """`out_size` is the number of places of the kernel along each dimension."""
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups
        self.x_shape, self.w_shape, self.out_size = x_shape, w_shape, out_size

    @cached_property
    def padded_shape(self) -> tuple[int, ...]:
        """The shape of x with its padding, and with more after it if the last place reaches further."""
        sizes = (size + 2 * p for size, p in zip(self.x_shape[2:], self.padding, strict=True))
        each = zip(self.out_size, self.stride, self.dilation, self.w_shape[2:], strict=True)
        reached = ((n - 1) * s + d * (k - 1) + 1 for n, s, d, k in each)
        return (*self.x_shape[:2], *map(max, sizes, reached))

    @cached_property
    def inside(self) -> Any:
        """The key of x in its padded array."""
        sizes = zip(self.padding, self.x_shape[2:], strict=True)
        return (_ALL, _ALL, *(slice(p, p + size) for p, size in sizes))

    @cached_property
    def places(self) -> int:
        """How many places the kernel has on each image."""
        return math.prod(self.out_size)

    @cached_property
    def patch_size(self) -> int:
        """How many elements of x the kernel covers at a place in each group: channels / groups · kernel."""
        return math.prod(self.w_shape[1:])

    @cached_property
    def windows_shape(self) -> tuple[int, ...]:
        """The shape of all windows: (n, channels, *kernel, *places)."""
        return (*self.x_shape[:2], *self.w_shape[2:], *self.out_size)

    @cached_property
    def windows_strides(self) -> tuple[int, ...]:
        """The strides of the windows in the padded x, counted in elements."""
        steps = [math.prod(self.padded_shape[dim + 1 :]) for dim in range(len(self.padded_shape))]
        apart = (step * d for step, d in zip(steps[2:], self.dilation, strict=True))
        return (*steps[:2], *apart, *(step * s for step, s in zip(steps[2:], self.stride, strict=True)))

    @cached_property
    def meetings(self) -> list[tuple[Any, Any]]:
        """For each element of the kernel, its key in the windows, and the key of what it meets in the padded x."""
        found = []
        for offset in itertools.product(*[range(k) for k in self.w_shape[2:]]):
            each = zip(offset, self.dilation, self.stride, self.out_size, strict=True)
            met = [slice(i * d, i * d + (n - 1) * s + 1, s) for i, d, s, n in each]
            found.append(((_ALL, _ALL, *offset), (_ALL, _ALL, *met)))
        return found

    def columns(self, x: Array) -> Array:
        """The elements that the kernel covers at each place: (n, groups, channels / groups · kernel, places)."""
        if self.padded_shape == self.x_shape:
            padded = np.ascontiguousarray(x)
        else:
            padded = np.zeros(self.padded_shape, x.dtype)
            padded[self.inside] = x
        strides = tuple([step * x.itemsize for step in self.windows_strides])
        windows: Array = np.ndarray(
            self.windows_shape, x.dtype, padded, 0, strides
        )  # as_strided takes ten times as long
        return windows.reshape(self.x_shape[0], self.groups, self.patch_size, self.places)

    def folded(self, columns: Array) -> Any:
        """The transpose of `columns`: an element that several places cover gets their sum."""
        windows = columns.reshape(self.windows_shape)
        padded = np.zeros(self.padded_shape, columns.dtype)
        for one, met in self.meetings:
            part = padded[met]
            part += windows[one]
        return padded if self.padded_shape == self.x_shape else padded[self.inside]

    def rows(self, w: Array) -> Array:
        """The kernels as matrices: (groups, outputs / groups, channels / groups · kernel)."""
        return w.reshape(self.groups, self.w_shape[0] // self.groups, self.patch_size)

    def grouped(self, z: Array) -> Array:
        """An array in z's shape as matrices: (n, groups, outputs / groups, places)."""
        return z.reshape(self.x_shape[0], self.groups, self.w_shape[0] // self.groups, self.places)

    def ungrouped(self, matrices: Array) -> Array:
        """The reverse of `grouped`."""
        return matrices.reshape((self.x_shape[0], self.w_shape[0], *self.out_size))


geometry_of = lru_cache(maxsize=256)(Geometry)
"""A Geometry, cached: the same sizes get the same one, with everything that it has computed."""
