"""gradcheck's comparison of whole Jacobians; see Note [Numerical and analytical] in `gradcheck_jacobians`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from microtape.errors import GradcheckError
from microtape.tape.tensor_state import new_tensor
from microtape.tensors.tensor import Tensor
from microtape.transforms.gradcheck_jacobians import Matrix, Problem, units


@dataclass(frozen=True)
class Settings:
    """The arguments of gradcheck of these names."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_grad_dtypes: bool
    masked: bool


def check_slow(problem: Problem, settings: Settings, *, forward: bool) -> None:
    """Compare all Jacobians. Raises GradcheckError for the first that differs."""
    jacobians = problem.numerical(settings.eps)
    if not problem.outputs:
        if any(np.any(matrix != 0) for row in jacobians for matrix in row):
            raise GradcheckError("Numerical gradient for function expected to be zero")
        return
    recorded = [i for i, number in enumerate(problem.floating) if problem.results[number].requires_grad]
    if forward:
        by_input = problem.by_forward([units(one.array) for one in problem.wanted], settings.check_grad_dtypes)
    for j, (number, output) in enumerate(zip(recorded, problem.outputs, strict=True)):
        if forward:
            analytical = [row[number] for row in by_input]
        else:
            analytical = problem.by_backward(
                output, partial(units, output.array), settings.nondet_tol, settings.check_grad_dtypes
            )
        for i, ours in enumerate(analytical):
            numerical = jacobians[i][number]
            if not is_close(ours, numerical, settings.rtol, settings.atol):
                raise GradcheckError(mismatch(problem, j, i, numerical, ours, forward=forward))


def is_close(analytical: Any, numerical: Any, rtol: float, atol: float) -> bool:
    """Whether two Jacobians, or projections of them, agree everywhere; NaN agrees with nothing."""
    with np.errstate(all="ignore"):
        return bool(np.allclose(analytical, numerical, rtol, atol))


def mismatch(problem: Problem, j: int, i: int, numerical: Matrix, analytical: Matrix, *, forward: bool) -> str:
    """The text about two Jacobians of output `j` with respect to input `i` that differ."""
    considered = ""
    if (i if forward else j) in problem.complex_numbers:
        elements = "inputs" if forward else "outputs"
        considered = f"While considering the {problem.part} part of complex {elements} only, "
    mode = "computed with forward mode " if forward else ""
    return (
        f"{considered}Jacobian {mode}mismatch for output {j} with respect to input {i},\n"
        f"numerical:{new_tensor(Tensor, np.asarray(numerical))}\n"
        f"analytical:{new_tensor(Tensor, np.asarray(analytical))}\n"
    )
