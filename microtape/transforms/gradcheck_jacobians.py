"""The Jacobians that gradcheck compares: by finite differences, by backward, and by forward mode.

Note [Numerical and analytical]
  Both are matrices with a row for each element of an input and a column for each element of an output. A numerical
  entry is the central difference (f(x + ε) - f(x - ε)) / 2ε for a step ε in one element; an analytical column is the
  gradient that backward computes for a first gradient of 1 in one element. A complex element counts as two real ones:
  its entry is ∂/∂Re + i · ∂/∂Im, which is torch's convention. The imaginary part of an output is checked separately,
  with i as the first gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from microtape.tape.tensor_state import Array, new_tensor
from microtape.tensors.differentiate import grad
from microtape.tensors.tensor import Tensor
from microtape.transforms.forward_ad import dual_level, make_dual, unpack_dual

Matrix: TypeAlias = Array


class Jacobians:
    """A function and the arguments at which to differentiate it.

    `inputs` are the arguments that require grad, `numbers` their positions.
    """

    def __init__(self, func: Callable[..., Any], arguments: tuple[Any, ...], eps: float) -> None:
        self.func, self.arguments, self.eps = func, arguments, eps
        self.inputs = [one for one in arguments if isinstance(one, Tensor) and one.requires_grad]
        self.numbers = [i for i, one in enumerate(arguments) if isinstance(one, Tensor) and one.requires_grad]
        self.results = _as_tuple(func(*arguments))
        self.outputs = differentiable(self.results)

    def values(self) -> list[Matrix]:
        """The function's differentiable outputs as flat arrays."""
        return [output.array.reshape(-1).copy() for output in differentiable(self.func(*self.arguments))]

    def numerical(self, tensor: Tensor, output_index: int) -> Matrix:
        """The numerical Jacobian of one output, as real numbers, with respect to one input."""
        rows = []
        for at in np.ndindex(tensor.array.shape):
            row = self.difference(tensor, at, self.eps, output_index)
            if tensor.array.dtype.kind == "c":
                row = row + 1j * self.difference(tensor, at, 1j * self.eps, output_index)
            rows.append(row)
        return np.array(rows)

    def difference(self, tensor: Tensor, at: tuple[int, ...], step: complex, output_index: int) -> Matrix:
        """The central difference of an output for a step in one element of an input."""
        before = tensor.array[at].copy()
        tensor.array[at] = before - step
        low = self.parts(output_index)
        tensor.array[at] = before + step
        high = self.parts(output_index)
        tensor.array[at] = before
        return (high - low) / (2 * abs(step))

    def step(self, tensor: Tensor, v: Matrix) -> list[Matrix]:
        """The central differences of the outputs for a step along v in one input."""
        before = tensor.array.copy()
        tensor.array[...] = before - self.eps * v
        low = self.values()
        tensor.array[...] = before + self.eps * v
        high = self.values()
        tensor.array[...] = before
        return [(b - a) / (2 * self.eps) for a, b in zip(low, high, strict=True)]

    def parts(self, output_index: int) -> Matrix:
        """An output of a new call of the function, as real numbers."""
        return _as_parts(self.values()[output_index])

    def by_backward(self, output: Tensor) -> list[Matrix]:
        """By backward, the Jacobian of one output with respect to each input; its rows are those of `numerical`."""
        units = [1.0, 1j] if output.array.dtype.kind == "c" else [1.0]
        columns = [self.backward(output, at, unit) for unit in units for at in np.ndindex(output.array.shape)]
        return [
            np.stack([column[i] for column in columns], axis=1)
            if columns
            else np.zeros((tensor.array.size, 0), tensor.array.dtype)
            for i, tensor in enumerate(self.inputs)
        ]

    def backward(self, output: Tensor, at: tuple[int, ...], unit: complex) -> list[Matrix]:
        """The gradients of the inputs for a first gradient of `unit` in one element of an output."""
        first = np.zeros_like(output.array)
        first[at] = unit
        return self.gradients(output, first)

    def gradients(self, output: Tensor, first: Matrix) -> list[Matrix]:
        """The gradients of the inputs for this first gradient, flat; zeros for inputs without one."""
        found = grad(output, self.inputs, new_tensor(Tensor, first), retain_graph=True, allow_unused=True)
        return [
            np.zeros(tensor.array.size, tensor.array.dtype) if gradient is None else gradient.array.reshape(-1)
            for gradient, tensor in zip(found, self.inputs, strict=True)
        ]

    def by_forward(self, number: int) -> list[Matrix]:
        """By forward mode, the Jacobian of each output with respect to one input; its rows are those of `numerical`."""
        array = self.arguments[number].array
        rows: list[list[Matrix]] = [[] for _ in self.outputs]
        for at in np.ndindex(array.shape):
            found = self.along(number, at, 1.0)
            if array.dtype.kind == "c":
                found = [a + 1j * b for a, b in zip(found, self.along(number, at, 1j), strict=True)]
            for row, one in zip(rows, found, strict=True):
                row.append(one)
        return [np.array(row) for row in rows]

    def along(self, number: int, at: tuple[int, ...], unit: complex) -> list[Matrix]:
        """The tangents of the outputs, as real numbers, for a tangent of `unit` in one element of an input."""
        tangent = np.zeros_like(self.arguments[number].array)
        tangent[at] = unit
        return [_as_parts(one.reshape(-1)) for one in self.tangents({number: tangent})]

    def tangents(self, given: Mapping[int, Matrix]) -> list[Matrix]:
        """The tangents of the outputs for tangents of some arguments, given by position; the others have none."""
        with dual_level():
            arguments = [
                make_dual(one.detach(), new_tensor(Tensor, given[i].copy()))
                if i in given
                else one.detach()
                if isinstance(one, Tensor)
                else one
                for i, one in enumerate(self.arguments)
            ]
            results = _as_tuple(self.func(*arguments))
            found = []
            for output, result in zip(self.results, results, strict=True):
                if isinstance(output, Tensor) and output.requires_grad:
                    tangent = unpack_dual(result).tangent
                    found.append(np.zeros_like(result.array) if tangent is None else tangent.array.copy())
        return found


def _as_parts(flat: Matrix) -> Matrix:
    """The array as real numbers: of complex ones, the real parts and then the imaginary parts."""
    return np.concatenate([flat.real, flat.imag]) if flat.dtype.kind == "c" else flat


def _as_tuple(outputs: Any) -> tuple[Any, ...]:
    """A function's results as a tuple, also a single one."""
    return tuple(outputs) if isinstance(outputs, tuple | list) else (outputs,)


def differentiable(outputs: Any) -> list[Tensor]:
    """A function's results that require grad. Raises AttributeError, as torch does, for one that is not a tensor."""
    results = _as_tuple(outputs)
    for one in results:
        if not isinstance(one, Tensor):
            raise AttributeError(f"'{type(one).__name__}' object has no attribute 'requires_grad'")
    return [one for one in results if one.requires_grad]


def plain_values(outputs: Any) -> list[Matrix]:
    """Copies of the arrays of all tensors among a function's results."""
    return [one.array.copy() for one in _as_tuple(outputs) if isinstance(one, Tensor)]


def random_like(tensor: Tensor, generator: np.random.Generator) -> Tensor:
    """Random numbers from a standard normal distribution, in the shape and dtype of `tensor`."""
    array = generator.standard_normal(tensor.array.shape)
    if tensor.array.dtype.kind == "c":
        array = array + 1j * generator.standard_normal(tensor.array.shape)
    return new_tensor(Tensor, np.asarray(array, tensor.array.dtype))
