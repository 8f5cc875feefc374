"""numpy's functions on tensors, and memory shared with other libraries.

Note [numpy and gradients]
  `np.exp(x)` finds `x.__array_ufunc__`, which calls the tensor's method `exp`: it is recorded, and the result is a
  tensor. Functions that are not universal, such as `np.sum`, call the method of that name by themselves. The rest ask
  for an array, which a tensor that requires grad refuses: a gradient is never lost silently. NB: torch's tensors
  refuse in every case, and give arrays where they do not.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from microtape.ops.shared.arguments import dim_index
from microtape.tape.grad_mode import mode
from microtape.tape.tensor_state import TensorState, new_tensor, requires_grad


class Interop(TensorState):
    """What numpy and DLPack ask a tensor for, and where it is in memory; see Note [numpy and gradients]."""

    __slots__ = ()
    __array_priority__ = 1000

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **arguments: Any) -> Any:
        """`np.exp(x)` and `array * x` are recorded like `x.exp()` and `x * array`.

        Raises TypeError where that would lose a gradient, as it has no derivative here, or would write into a tensor.
        """
        like = type(self)
        function = getattr(like, ANOTHER_NAME.get(ufunc.__name__, ufunc.__name__), None)
        if function is not None and method == "__call__" and not arguments:
            return function(*[one if isinstance(one, TensorState) else operand(one, like) for one in inputs])
        name = f"np.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
        targets = inputs[:1] if method == "at" else arguments.get("out", ())
        if any([isinstance(one, TensorState) for one in targets]):
            raise TypeError(f"{name} cannot write into a Tensor. Use the Tensor's own functions, such as copy_().")
        if mode.enabled and any([isinstance(one, TensorState) and requires_grad(one) for one in inputs]):
            kind = "has no derivative here" if function is None or not arguments else "takes no arguments by name here"
            raise TypeError(f"{name} {kind}. Use tensor.detach().numpy() to leave the graph.")
        arrays = [one.array if isinstance(one, TensorState) else one for one in inputs]
        result = getattr(ufunc, method)(*arrays, **arguments)
        if "out" in arguments or method == "at":
            return result  # the caller's own array
        if isinstance(result, tuple):
            return tuple([new_tensor(type(self), np.asarray(one)) for one in result])
        return new_tensor(type(self), np.asarray(result))

    def stride(self, dim: int | None = None) -> Any:
        """How many elements further in memory the next one along each dimension is, or along `dim`."""
        array = self.array
        if array.size:
            steps = tuple([step // array.itemsize for step in array.strides])
        else:
            steps = tuple([math.prod([max(size, 1) for size in array.shape[i + 1 :]]) for i in range(array.ndim)])
        return steps if dim is None else steps[dim_index(dim, array.ndim)]

    def is_contiguous(self) -> bool:
        """Whether the elements lie in memory in row-major order."""
        return self.array.flags.c_contiguous

    def data_ptr(self) -> int:
        """Where in memory the first element is: the same for a tensor and a view of its beginning."""
        return self.array.ctypes.data

    def element_size(self) -> int:
        """The bytes that an element takes."""
        return self.array.itemsize

    def __dlpack__(self, **arguments: Any) -> Any:
        """The memory, for other libraries. Raises BufferError where gradients would be lost silently."""
        if requires_grad(self):
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self) -> Any:
        """The device that the memory is on."""
        return self.array.__dlpack_device__()


def operand(value: Any, like: type[TensorState]) -> Any:
    """What numpy gives beside a tensor: a number as it is, for it has no say in the dtype, else a tensor around it.

    Raises TypeError for what has no numbers in it.
    """
    if isinstance(value, int | float | complex):
        return value
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise TypeError(f"a Tensor cannot be computed with an array of dtype {array.dtype}")
    return new_tensor(like, array)


ANOTHER_NAME = {
    "arccosh": "acosh",
    "arcsinh": "asinh",
    "arctanh": "atanh",
    "conjugate": "conj",
    "equal": "eq",
    "fabs": "abs",
    "invert": "bitwise_not",
    "power": "pow",
    "rint": "round",
}
"""numpy's universal functions that are a tensor's method of another name. The others have the same name."""
