"""What a tensor is without its history: its shape, its dtype and its size in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from microtape.absent import Absent
from microtape.basics import devices
from microtape.tensors.conversions import Conversions
from microtape.tensors.dtype import dtype as Dtype  # noqa: N812 - a tensor has a property of that name
from microtape.tensors.dtype import public

__all__ = ["Size"]


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple of ints."""

    __slots__ = ()

    def numel(self) -> int:
        """The number of elements of a tensor of this shape."""
        return int(np.prod(self, dtype=np.int64))

    def __repr__(self) -> str:
        return f"microtape.Size({list(self)})"


class Attributes(Conversions):
    """What a tensor tells of its array."""

    __slots__ = ()

    @property
    def shape(self) -> Size:
        """The size of each dimension."""
        return Size(self.array.shape)

    @property
    def dtype(self) -> Dtype:
        """The element type; see Note [Two kinds of dtypes]."""
        return public(self.array.dtype)

    @property
    def device(self) -> devices.device:
        """The CPU, as for every tensor here."""
        return devices.CPU

    @property
    def is_cuda(self) -> bool:
        """False."""
        return False

    @property
    def is_cpu(self) -> bool:
        """True."""
        return True

    @property
    def is_sparse(self) -> bool:
        """False: there are no sparse tensors here."""
        return False

    @property
    def itemsize(self) -> int:
        """The bytes that an element takes."""
        return self.array.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes that all elements take."""
        return self.array.nbytes

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.array.ndim

    def dim(self) -> int:
        """The number of dimensions."""
        return self.array.ndim

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of dimension `dim`. Raises IndexError if there is no such dimension."""
        return self.shape if dim is None else self.array.shape[dim]

    def numel(self) -> int:
        """The number of elements."""
        return self.array.size

    ndimension, nelement = dim, numel

    def is_floating_point(self) -> bool:
        """Whether the dtype is floating."""
        return self.array.dtype.kind == "f"

    def is_complex(self) -> bool:
        """Whether the dtype is complex."""
        return self.array.dtype.kind == "c"

    def is_signed(self) -> bool:
        """Whether the dtype has negative numbers."""
        return self.array.dtype.kind in "ifc"

    def is_nonzero(self) -> bool:
        """Whether the only element is not zero. Raises RuntimeError unless there is exactly one element."""
        return bool(self)

    def __len__(self) -> int:
        if not self.array.ndim:
            raise TypeError("len() of a 0-d tensor")
        return len(self.array)

    def __iter__(self) -> Iterator[Any]:
        if not self.array.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind())

    # A `__getattr__` would make every other attribute slower.
    as_strided, bfloat16, resize_, to_sparse = Absent(), Absent(), Absent(), Absent()
