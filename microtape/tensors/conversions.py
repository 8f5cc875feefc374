"""Tensors as Python's numbers and as numpy's arrays: where values leave the tape."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from microtape.tape.grad_mode import mode
from microtape.tape.tensor_state import Array, requires_grad
from microtape.tape.watch import watch
from microtape.tensors.from_data import check_conversion
from microtape.tensors.methods import Methods

_V = TypeVar("_V")


class Conversions(Methods):
    """What takes values out of a tensor: no gradient flows back from there."""

    __slots__ = ()

    def numpy(self, *, force: bool = False) -> Array:
        """The numpy array, which shares this tensor's memory.

        Raises RuntimeError if this tensor requires grad and grad mode is on, unless `force`: operations on the array
        are not recorded.
        """
        if not force and mode.enabled and requires_grad(self):
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        return self._value_taken("numpy", self.array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self._value_taken("numpy", np.array(self.numpy(), dtype=dtype, copy=copy))

    def item(self) -> Any:
        """The element as a Python number. Raises RuntimeError unless there is exactly one element."""
        if self.array.size != 1:
            raise RuntimeError(f"a Tensor with {self.array.size} elements cannot be converted to Scalar")
        return self._value_taken("item", self.array.item())

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers; of a 0-d tensor, the number."""
        return self._value_taken("tolist", self.array.tolist())

    def __float__(self) -> float:
        check_conversion(self)
        return self._value_taken("float", float(self.array.item()))

    def _value_taken(self, op: str, value: _V) -> _V:
        """Tell the observer, if there is one, that `op` takes `value` out of this tensor. Returns `value`."""
        if (watcher := watch.watcher) is not None:
            watcher.value_taken(op, self, value)
        return value

    def __complex__(self) -> complex:
        check_conversion(self)
        return complex(self.array.item())

    def __int__(self) -> int:
        check_conversion(self)
        return int(self.array.item())

    def __index__(self) -> int:
        if self.array.dtype.kind not in "biu" or self.array.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.array.item())

    def __bool__(self) -> bool:
        if self.array.size != 1:
            what = "more than one value" if self.array.size else "no values"
            raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous")
        return bool(self.array.item())
