"""gradcheck's fast mode: one random projection of each Jacobian is compared instead of the whole matrix.

Note [Projections]
  For a random direction u of an input and v of an output, uᵀ · J · v is a number. Numerically it takes one step along
  u, analytically one backward pass from v. In forward mode uᵀ · J, the tangent of the output, is compared as a whole.
  u and v have length 1 and no negative elements. As each element of J may be off by `atol`, the projection may be
  off by `atol · sum(u) · sum(v)`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from microtape.errors import GradcheckError
from microtape.random import Generator
from microtape.tape.operation import refusal
from microtape.tape.tensor_state import Array, new_tensor
from microtape.tensors.tensor import Tensor
from microtape.transforms.gradcheck_jacobians import Matrix, Problem, units
from microtape.transforms.gradcheck_slow import Settings, is_close, mismatch

SLOW = (
    "\nThe above quantities relating the numerical and analytical jacobians are computed \n"
    "in fast mode. See: https://github.com/pytorch/pytorch/issues/53876 for more background \n"
    "about fast mode. Below, we recompute numerical and analytical jacobians in slow mode:\n\n"
    "Numerical:\n {numerical}\nAnalytical:\n{analytical}\n\n"
    "The max per-element difference (slow mode) is: {difference}.\n"
)
SLOW_OK = (
    "\nFast gradcheck failed but element-wise differences are small. This means that the\n"
    "test might've passed in slow_mode!"
)

Direction = tuple[Array, Array]  # the directions along the real and the imaginary axis


def check_fast(problem: Problem, settings: Settings, *, forward: bool) -> None:
    """Compare projections of all Jacobians. Raises GradcheckError for the first that differs."""
    generator = Generator()
    directions = input_directions(problem.wanted, generator)
    numerical = [
        problem.slopes(tensor.array, (u[0] * settings.eps, u[1] * settings.eps), settings.eps)
        for tensor, u in zip(problem.wanted, directions, strict=True)
    ]
    for slopes in numerical:
        if len(slopes) != len(problem.results):
            raise AssertionError(
                "Expected all_Ju and func_out to have the same length, but got "
                f"{len(slopes)} and {len(problem.results)}"
            )
    if forward:
        _compare_tangents(problem, settings, directions, numerical)
        return
    if not problem.outputs:
        if any(slope.size and np.max(np.abs(slope)) > settings.nondet_tol for row in numerical for slope in row):
            raise GradcheckError("Numerical gradient for function expected to be zero")
        return
    firsts = [_direction(output.array, output.array.dtype, generator) for output in problem.outputs]
    by_output = [
        problem.by_backward(
            output, partial(iter, [v.reshape(output.array.shape)]), settings.nondet_tol, settings.check_grad_dtypes
        )
        for output, v in zip(problem.outputs, firsts, strict=True)
    ]
    recorded = [i for i, result in enumerate(problem.results) if result.requires_grad]
    for i, (tensor, u) in enumerate(zip(problem.wanted, directions, strict=True)):
        for j, v in enumerate(firsts):
            projected = _product(v, numerical[i][recorded[j]])
            gradient = by_output[j][i][:, 0]
            ours = gradient.real @ u[0].reshape(-1)
            if tensor.is_complex():
                ours = ours + 1j * (gradient.imag @ u[1].reshape(-1))
            if not is_close(ours, projected, settings.rtol, settings.atol * _sum(u, tensor) * v.sum().real):
                raise GradcheckError(
                    mismatch(problem, j, i, projected, ours, forward=False) + _in_slow_mode(problem, settings, j, i)
                )


def _compare_tangents(
    problem: Problem, settings: Settings, directions: list[Direction], numerical: list[list[Matrix]]
) -> None:
    """Compare the tangents of all results with the numerical slopes. Raises GradcheckError for the first difference."""
    analytical = problem.by_forward(
        [[u[0].reshape(tensor.array.shape)] for tensor, u in zip(problem.wanted, directions, strict=True)],
        settings.check_grad_dtypes,
    )
    for i, (tensor, u) in enumerate(zip(problem.wanted, directions, strict=True)):
        for j, number in enumerate(problem.floating):
            theirs, ours = numerical[i][number], analytical[i][j][0]
            if not is_close(ours, theirs, settings.rtol, settings.atol * _sum(u, tensor)):
                raise GradcheckError(
                    mismatch(problem, j, i, theirs, ours, forward=True)
                    + _in_slow_mode(problem, settings, j, i, forward=True)
                )


def _in_slow_mode(problem: Problem, settings: Settings, j: int, i: int, *, forward: bool = False) -> str:
    """The whole Jacobians of one output with respect to one input, as text."""
    if forward:
        numerical = problem.numerical(settings.eps)[i][j]
        analytical = problem.by_forward([units(tensor.array) for tensor in problem.wanted], False)[i][j]
    else:
        output = problem.outputs[j]
        number = [k for k in problem.floating if problem.results[k].requires_grad][j]
        numerical = problem.numerical(settings.eps)[i][problem.floating.index(number)]
        analytical = problem.by_backward(output, partial(units, output.array), np.inf, False)[i]
    text = SLOW.format(
        numerical=new_tensor(Tensor, numerical),
        analytical=new_tensor(Tensor, analytical),
        difference=np.max(np.abs(numerical - analytical)),
    )
    return text + (SLOW_OK if is_close(analytical, numerical, settings.rtol, settings.atol) else "")


def input_directions(inputs: list[Tensor], generator: Generator) -> list[Direction]:
    """Random directions of these inputs; of real inputs only the first of each pair counts."""
    found = []
    for tensor in inputs:
        dtype: Any = tensor.array.real.dtype
        u = _direction(tensor.array, dtype, generator).reshape(tensor.array.shape)
        w = _direction(tensor.array, dtype, generator).reshape(tensor.array.shape) if tensor.is_complex() else u
        found.append((u, w))
    return found


def _direction(array: Array, dtype: Any, generator: Generator) -> Array:
    """A random vector of length 1 and of this dtype, with an element for each one of `array`."""
    vector = generator.uniform(array.size, np.float32).astype(dtype)
    return vector / np.linalg.norm(vector).astype(dtype) if array.size else vector


def _product(v: Array, slope: Array) -> Any:
    """The inner product. Raises RuntimeError if a result had another size when it was first computed."""
    try:
        return (v * slope).sum()
    except ValueError as error:
        raise refusal(error, v, slope) from None


def _sum(u: Direction, tensor: Tensor) -> float:
    """The sum of a direction's elements."""
    return float(u[0].sum() + (u[1].sum() if tensor.is_complex() else 0))
