"""The Jacobians that gradcheck compares: by finite differences, by backward, and by forward mode.

Note [Numerical and analytical]
  Both are matrices with a row for each element of an input and a column for each element of an output. A numerical
  entry is the central difference (f(x + ε) - f(x - ε)) / 2ε for a step ε in one element; an analytical column is the
  gradient that backward computes for a first gradient of 1 in one element, an analytical row the tangent that forward
  mode computes for a tangent of 1 in one element. An entry for a complex input is ∂/∂Re + i · ∂/∂Im, which is torch's
  convention. Functions of complex numbers are checked part by part: backward for the real and the imaginary parts of
  the outputs, forward mode for the real and the imaginary parts of the inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from microtape.basics.dtypes import is_differentiable
from microtape.errors import GradcheckError
from microtape.tape.operation import refusal
from microtape.tape.tensor_state import Array, new_tensor
from microtape.tensors.attributes import Size
from microtape.tensors.differentiate import grad
from microtape.tensors.tensor import Tensor
from microtape.transforms.forward_ad import dual_level, make_dual, unpack_dual

Matrix: TypeAlias = Array

NOT_REENTRANT = (
    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different "
    "values, although analytical gradient matches numerical gradient.The tolerance for nondeterminism was {tolerance}."
)


class Problem:
    """A function, the inputs at which to differentiate it, and its results there.

    `wanted` are the inputs that require grad, `outputs` the results that require grad. `complex_numbers` are the
    indices of the complex outputs (for forward mode: inputs) of which the function has only the `part` named.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        inputs: Sequence[Any],
        complex_numbers: Sequence[int] = (),
        part: str = "",
    ) -> None:
        self.func, self.inputs = func, inputs
        self.complex_numbers, self.part = complex_numbers, part
        self.wanted = [one for one in inputs if isinstance(one, Tensor) and one.requires_grad]
        self.results = as_tuple(func(*inputs))
        self.outputs = differentiable(self.results)
        self.floating = [i for i, one in enumerate(self.results) if is_differentiable(one.array.dtype)]

    def numerical(self, eps: float) -> list[list[Matrix]]:
        """For each wanted input, the numerical Jacobian of each floating-point or complex result."""
        return [self._numerical(tensor, eps) for tensor in self.wanted]

    def _numerical(self, tensor: Tensor, eps: float) -> list[Matrix]:
        """The numerical Jacobians with respect to one input."""
        array = tensor.array
        results = [self.results[i].array for i in self.floating]
        matrices = [
            np.zeros((array.size, result.size), array.dtype if array.dtype.kind == "c" else result.dtype)
            for result in results
        ]
        for row, at in enumerate(np.ndindex(array.shape)):
            found = self.slopes(array[(*at, ...)], (eps, eps), eps, f"on index {at} ")
            for matrix, i in zip(matrices, self.floating, strict=True):
                _set_row(matrix, row, found[i])
        return matrices

    def slopes(self, target: Array, steps: tuple[Any, Any], eps: float, where: str = "") -> list[Matrix]:
        """The slope of each result, flat, as an input's elements `target` move along the first of `steps`.

        For complex elements the second step counts too, along the imaginary axis.
        """
        along_real = self._differences(target, steps[0], eps, where)
        if target.dtype.kind != "c":
            return along_real
        along_imaginary = self._differences(target, steps[1] * 1j, eps, where)
        return [a + b * 1j for a, b in zip(along_real, along_imaginary, strict=False)]

    def _differences(self, target: Array, step: Any, eps: float, where: str) -> list[Matrix]:
        """The central difference of each result, flat, for a step in the elements `target` of an input."""
        before = target.copy()
        target[...] = before - step
        low = self._values()
        target[...] = before + step
        high = self._values()
        target[...] = before
        return [_difference(a, b, eps, where) for a, b in zip(low, high, strict=False)]

    def _values(self) -> list[Array]:
        """Copies of the results' arrays in a new call of the function."""
        results = as_tuple(self.func(*self.inputs))
        for one in results:
            if not isinstance(one, Tensor):
                raise AttributeError(f"'{type(one).__name__}' object has no attribute 'clone'")
        return [one.array.copy() for one in results]

    def fresh_outputs(self) -> list[Tensor]:
        """The outputs of a new call of the function, with a graph of their own."""
        return differentiable(self.func(*self.inputs))

    def by_backward(
        self, output: Tensor, firsts: Callable[[], Iterable[Array]], nondet_tol: float, check_grad_dtypes: bool
    ) -> list[Matrix]:
        """For each wanted input, a matrix with the gradient for each first gradient of `output` as a column.

        `firsts` is called twice, as a backward may write to its gradient. Raises GradcheckError if a second computation
        gives other gradients, or for a gradient of another dtype.
        """
        analytical, again = self._columns(output, firsts()), self._columns(output, firsts())
        if check_grad_dtypes and any(
            gradient is not None and gradient.array.dtype != tensor.array.dtype
            for column in analytical
            for gradient, tensor in zip(column, self.wanted, strict=True)
        ):
            raise GradcheckError("Gradient has dtype mismatch")
        matrices, others = self._matrices(analytical), self._matrices(again)
        for a, b in zip(matrices, others, strict=True):
            with np.errstate(all="ignore"):
                largest = np.max(np.abs(a - b), initial=0)
            if largest > nondet_tol:
                raise GradcheckError(NOT_REENTRANT.format(tolerance=nondet_tol))
        return matrices

    def _columns(self, output: Tensor, firsts: Iterable[Array]) -> list[Any]:
        """For each first gradient of `output`, the gradients of the wanted inputs."""
        return [
            grad(output, self.wanted, new_tensor(Tensor, first), retain_graph=True, allow_unused=True)
            for first in firsts
        ]

    def _matrices(self, columns: list[Any]) -> list[Matrix]:
        """For each wanted input, its gradients as the columns of a matrix."""
        matrices = [np.zeros((tensor.array.size, len(columns)), tensor.array.dtype) for tensor in self.wanted]
        for j, gradients in enumerate(columns):
            for matrix, gradient in zip(matrices, gradients, strict=True):
                if gradient is not None:
                    matrix[:, j] = gradient.array.reshape(-1)
        return matrices

    def by_forward(self, tangents: Sequence[Iterable[Array]], check_grad_dtypes: bool) -> list[list[Matrix]]:
        """For each wanted input, a matrix for each floating-point result, with its tangents as rows.

        `tangents` has, for each wanted input, the tangents to give it, one after the other; all others are zero then.
        Raises GradcheckError if a tangent is complex and its result is not, or the other way round.
        """
        jacobians = []
        with dual_level():
            inputs = duals(self.inputs, [np.zeros_like(tensor.array) for tensor in self.wanted])
            given = [unpack_dual(one).tangent for one in inputs if isinstance(one, Tensor)]
            zeros = [tangent.array for tangent in given if tangent is not None]
            for zero, directions in zip(zeros, tangents, strict=True):
                rows: list[list[Matrix]] = []
                for direction in directions:
                    zero[...] = direction
                    rows.append(self._tangents(inputs, check_grad_dtypes))
                    zero[...] = 0
                jacobians.append(
                    [
                        np.array([row[i] for row in rows]).reshape(len(rows), self.results[number].array.size)
                        for i, number in enumerate(self.floating)
                    ]
                )
        return jacobians

    def _tangents(self, inputs: Sequence[Any], check_grad_dtypes: bool) -> list[Matrix]:
        """The tangents of the floating-point results for dual inputs, flat."""
        found = []
        for one in as_tuple(self.func(*inputs)):
            if not is_differentiable(one.array.dtype):
                continue
            tangent = unpack_dual(one).tangent
            if tangent is None:
                found.append(np.zeros(one.array.size, one.array.dtype))
                continue
            if check_grad_dtypes and tangent.is_complex() != one.is_complex():
                raise GradcheckError("Forward AD gradient has dtype mismatch.")
            found.append(tangent.array.reshape(-1).copy())
        return found


def duals(inputs: Sequence[Any], tangents: Iterable[Array]) -> list[Any]:
    """The inputs, those that require grad replaced by dual tensors with these tangents."""
    given = iter(tangents)
    return [
        make_dual(one.detach(), new_tensor(Tensor, next(given)))
        if isinstance(one, Tensor) and one.requires_grad
        else one
        for one in inputs
    ]


def units(array: Array) -> Iterable[Array]:
    """Arrays like `array` with a 1 in one element and 0 elsewhere, for each element in turn."""
    for at in np.ndindex(array.shape):
        unit = np.zeros(array.shape, array.dtype)
        unit[at] = 1
        yield unit


def _difference(low: Array, high: Array, eps: float, where: str) -> Matrix:
    """The central difference, flat. Raises AssertionError if a result has changed its shape or dtype."""
    for what, a, b in (
        ("shape", Size(low.shape), Size(high.shape)),
        ("dtype", f"microtape.{low.dtype.name}", f"microtape.{high.dtype.name}"),
    ):
        if a != b:
            raise AssertionError(
                f"Expected `func` to return outputs with the same {what} when inputs are perturbed {where}by {eps}, "
                f"but got: {what}s {a} and {b}."
            )
    try:
        with np.errstate(all="ignore"):  # Note [NaN and Inf are results]
            return np.asarray((high - low) / (2 * eps)).reshape(-1)
    except TypeError as error:
        raise refusal(error, high, low) from None


def _set_row(matrix: Matrix, row: int, values: Array) -> None:
    """Fill a row of a matrix. Raises RuntimeError if a result had another size when it was first computed."""
    try:
        matrix[row] = values
    except ValueError:
        size, count = matrix.shape[1], values.size
        raise RuntimeError(
            f"The expanded size of the tensor ({size}) must match the existing size ({count}) at non-singleton "
            f"dimension 0.  Target sizes: [{size}].  Tensor sizes: [{count}]"
        ) from None


def as_tuple(outputs: Any) -> tuple[Any, ...]:
    """A function's results as a tuple, also a single one."""
    return tuple(outputs) if isinstance(outputs, tuple | list) else (outputs,)


def differentiable(outputs: Any) -> list[Tensor]:
    """A function's results that require grad. Raises AttributeError, as torch does, for one that is not a tensor."""
    results = as_tuple(outputs)
    for one in results:
        if not isinstance(one, Tensor):
            raise AttributeError(f"'{type(one).__name__}' object has no attribute 'requires_grad'")
    return [one for one in results if one.requires_grad]
