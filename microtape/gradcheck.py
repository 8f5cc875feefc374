"""Checking derivatives against finite differences.

Note [Numerical and analytical]
  Both are Jacobians with a row for each element of an input and a column for each element of an output. A numerical
  entry is (f(x + ε) - f(x - ε)) / 2ε for a step ε in one element; an analytical column is what backward gives for a
  first gradient of 1 in one element. A complex element counts as two real ones: its entry is ∂/∂Re + i · ∂/∂Im, which
  is torch's convention, and an output's imaginary part is checked by itself, with i as the first gradient.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from microtape.call_site import user_stacklevel
from microtape.differentiate import grad
from microtape.errors import GradcheckError
from microtape.function import Function
from microtape.grad_mode import enable_grad
from microtape.tensor import Tensor
from microtape.tensor_state import new_tensor

Matrix = npt.NDArray[Any]

NOT_REENTRANT = (
    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different "
    "values, although analytical gradient matches numerical gradient.The tolerance for nondeterminism was {tolerance}."
)


def gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Compare the gradients that backward computes for `func(*inputs)` with finite differences.

    Inputs that require grad should be of double precision; each is nudged in place, one element at a time, and put
    back. `fast_mode` compares one random projection of each Jacobian rather than all of it.

    torch's other arguments are taken as well. Gradients always have their input's dtype here, a batch of them is
    computed one by one, and no tensor is sparse: `check_grad_dtypes`, `check_batched_grad` and `masked` change nothing.

    Raises:
        GradcheckError: they differ by more than `atol + rtol · |numerical|`; backward gives different values each time
            (by more than `nondet_tol`), does not scale with the first gradient, or stumbles over an undefined one. With
            `raise_exception=False` the answer is False instead.
        ValueError: no input requires grad, or one repeats its memory.
        NotImplementedError: forward-mode derivatives are to be checked.
    """
    if check_forward_ad or check_batched_forward_grad:
        raise NotImplementedError("gradcheck checks backward only: leave out check_forward_ad")
    if not check_backward_ad:
        raise ValueError("nothing to check: check_backward_ad is False")
    arguments = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    check_inputs(arguments)
    try:
        _Check(func, arguments, eps, atol, rtol, nondet_tol).run(check_undefined_grad, fast_mode)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """`gradcheck` of the gradients of `func`: whether its second derivatives are right.

    `grad_outputs` are the first gradients, by default random ones; with `gen_non_contig_grad_outputs` these do not lie
    in order in memory. The other arguments and errors are gradcheck's.
    """
    if check_fwd_over_rev or not check_rev_over_rev:
        raise NotImplementedError("gradgradcheck checks backward over backward only")
    arguments = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    if grad_outputs is None:
        generator = np.random.default_rng(0)
        firsts = [random_like(output, generator) for output in differentiable(func(*arguments))]
        if gen_non_contig_grad_outputs:
            firsts = [new_tensor(Tensor, np.stack([one.array, one.array], -1)[..., 0]) for one in firsts]
        for one in firsts:
            one.requires_grad_()
    else:
        firsts = [grad_outputs] if isinstance(grad_outputs, Tensor) else list(grad_outputs)
    count = len(firsts)

    def gradients(*everything: Any) -> tuple[Tensor, ...]:
        given, first = everything[:-count], everything[-count:]
        wanted = [one for one in given if isinstance(one, Tensor) and one.requires_grad]
        with enable_grad():
            outputs = differentiable(func(*given))
            found = grad(outputs, wanted, first, create_graph=True, allow_unused=True)
        return tuple(gradient for gradient in found if gradient is not None)

    return gradcheck(
        gradients,
        (*arguments, *firsts),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        fast_mode=fast_mode,
    )


class _Check:
    """One call of gradcheck."""

    def __init__(
        self,
        func: Callable[..., Any],
        arguments: tuple[Any, ...],
        eps: float,
        atol: float,
        rtol: float,
        nondet_tol: float,
    ) -> None:
        self.func, self.arguments = func, arguments
        self.eps, self.atol, self.rtol, self.nondet_tol = eps, atol, rtol, nondet_tol
        self.inputs = [one for one in arguments if isinstance(one, Tensor) and one.requires_grad]
        self.numbers = [i for i, one in enumerate(arguments) if isinstance(one, Tensor) and one.requires_grad]

    def run(self, check_undefined_grad: bool, fast_mode: bool) -> None:
        outputs = differentiable(self.func(*self.arguments))
        if not outputs:
            self.check_that_nothing_depends()
            return
        if not fast_mode or not all(self.projections_agree(i, output) for i, output in enumerate(outputs)):
            for i, output in enumerate(outputs):
                self.check_output(i, output)
        self.check_scaling(outputs)
        if check_undefined_grad:
            self.check_undefined(outputs)

    def values(self) -> list[Matrix]:
        """The function's differentiable outputs as flat arrays."""
        return [output.array.reshape(-1).copy() for output in differentiable(self.func(*self.arguments))]

    def numerical(self, tensor: Tensor, output_index: int) -> Matrix:
        """The numerical Jacobian of one output's parts with respect to one input."""
        rows = []
        for at in np.ndindex(tensor.array.shape):
            row = self.difference(tensor, at, self.eps, output_index)
            if tensor.array.dtype.kind == "c":
                row = row + 1j * self.difference(tensor, at, 1j * self.eps, output_index)
            rows.append(row)
        return np.array(rows)

    def difference(self, tensor: Tensor, at: tuple[int, ...], step: complex, output_index: int) -> Matrix:
        """The central difference of an output for a step in one element."""
        before = tensor.array[at].copy()
        tensor.array[at] = before - step
        low = self.parts(output_index)
        tensor.array[at] = before + step
        high = self.parts(output_index)
        tensor.array[at] = before
        return (high - low) / (2 * abs(step))

    def parts(self, output_index: int) -> Matrix:
        """An output as real numbers: of a complex one, the real parts and then the imaginary parts."""
        flat = self.values()[output_index]
        return np.concatenate([flat.real, flat.imag]) if flat.dtype.kind == "c" else flat

    def analytical(self, output: Tensor) -> list[Matrix]:
        """What backward says, for each input: a Jacobian with the same rows and columns as the numerical one."""
        units = [1.0, 1j] if output.array.dtype.kind == "c" else [1.0]
        columns = [self.backward(output, at, unit) for unit in units for at in np.ndindex(output.array.shape)]
        return [
            np.stack([column[i] for column in columns], axis=1)
            if columns
            else np.zeros((tensor.array.size, 0), tensor.array.dtype)
            for i, tensor in enumerate(self.inputs)
        ]

    def backward(self, output: Tensor, at: tuple[int, ...], unit: complex) -> list[Matrix]:
        first = np.zeros_like(output.array)
        first[at] = unit
        return self.gradients(output, first)

    def gradients(self, output: Tensor, first: Matrix) -> list[Matrix]:
        """The gradients of the inputs for this first gradient, flat; zeros where there are none."""
        found = grad(output, self.inputs, new_tensor(Tensor, first), retain_graph=True, allow_unused=True)
        return [
            np.zeros(tensor.array.size, tensor.array.dtype) if gradient is None else gradient.array.reshape(-1)
            for gradient, tensor in zip(found, self.inputs, strict=True)
        ]

    def check_output(self, index: int, output: Tensor) -> None:
        """Compare all of the Jacobians of one output."""
        analytical, again = self.analytical(output), self.analytical(output)
        for number, tensor, ours, second in zip(self.numbers, self.inputs, analytical, again, strict=True):
            numerical = self.numerical(tensor, index).reshape(ours.shape)
            if not np.allclose(ours, numerical, self.rtol, self.atol, equal_nan=True):
                raise GradcheckError(
                    f"Jacobian mismatch for output {index} with respect to input {number},\n"
                    f"numerical:{new_tensor(Tensor, numerical)!r}\nanalytical:{new_tensor(Tensor, ours)!r}\n"
                )
            if ours.size and np.max(np.abs(ours - second)) > self.nondet_tol:
                raise GradcheckError(NOT_REENTRANT.format(tolerance=self.nondet_tol))

    def projections_agree(self, index: int, output: Tensor) -> bool:
        """Compare uᵀ · J · v for random u and v: numerically one step along v, analytically one backward from u."""
        generator = np.random.default_rng(index)
        u = random_like(output, generator).array
        ours = self.gradients(output, u)
        for tensor, gradient in zip(self.inputs, ours, strict=True):
            v = random_like(tensor, generator).array
            before = tensor.array.copy()
            tensor.array[...] = before - self.eps * v
            low = self.values()[index]
            tensor.array[...] = before + self.eps * v
            high = self.values()[index]
            tensor.array[...] = before
            numerical = np.vdot(u.reshape(-1), high - low).real / (2 * self.eps)
            analytical = np.vdot(gradient, v.reshape(-1)).real
            tolerance = self.atol * np.abs(u).sum() * np.abs(v).sum() + self.rtol * abs(numerical)
            if not abs(numerical - analytical) <= tolerance:
                return False
        return True

    def check_that_nothing_depends(self) -> None:
        """The outputs claim not to depend on the inputs; then nudging an input must not change them."""
        for tensor in self.inputs:
            for at in np.ndindex(tensor.array.shape):
                before = tensor.array[at].copy()
                first = plain_values(self.func(*self.arguments))
                tensor.array[at] = before + self.eps
                second = plain_values(self.func(*self.arguments))
                tensor.array[at] = before
                if not all(np.allclose(a, b, 0, self.eps * self.atol) for a, b in zip(first, second, strict=True)):
                    raise GradcheckError("Numerical gradient for function expected to be zero")

    def check_scaling(self, outputs: list[Tensor]) -> None:
        """First gradients of zero must give zero."""
        zeros = [new_tensor(Tensor, np.zeros_like(output.array)) for output in outputs]
        found = grad(outputs, self.inputs, zeros, retain_graph=True, allow_unused=True)
        for gradient, tensor in zip(found, self.inputs, strict=True):
            if gradient is None:
                continue
            if np.any(gradient.array != 0):
                raise GradcheckError("backward not multiplied by grad_output")
            if gradient.array.dtype != tensor.array.dtype:
                raise GradcheckError("grad is incorrect type")
            if gradient.array.shape != tensor.array.shape:
                raise GradcheckError("grad is incorrect size")

    def check_undefined(self, outputs: list[Tensor]) -> None:
        """An undefined gradient, None, must be taken for zero."""
        try:
            undefined = [Undefined.apply(output) for output in outputs]
            ones = [new_tensor(Tensor, np.ones_like(output.array)) for output in outputs]
            found = grad(undefined, self.inputs, ones, retain_graph=True, allow_unused=True)
        except Exception as error:
            raise GradcheckError(
                "Expected backward function to handle undefined output grads. Please look at 'Notes about undefined "
                "output gradients' in 'tools/autograd/derivatives.yaml'"
            ) from error
        if any(np.any(gradient.array) for gradient in found if gradient is not None):
            raise GradcheckError(
                "Expected all input grads to be undefined or zero when all output grads are undefined or zero. "
                "Please look at 'Notes about undefined output gradients' in 'tools/autograd/derivatives.yaml'"
            )


class Undefined(Function):
    """z = x, but no gradient comes back."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Any:
        """A copy of x."""
        return x.clone()

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> None:
        """An undefined gradient."""


def check_inputs(arguments: tuple[Any, ...]) -> None:
    """Raise ValueError or RuntimeError for inputs that cannot be checked; warn where the check is likely to fail."""
    found = False
    for i, one in enumerate(arguments):
        if not isinstance(one, Tensor) or not one.requires_grad:
            continue
        found = True
        if one.array.dtype not in (np.dtype(np.float64), np.dtype(np.complex128)):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check "
                "will likely fail if all the inputs are not of double precision floating point or complex. ",
                stacklevel=user_stacklevel(),
            )
        if one.array.size and any(
            stride == 0 and size > 1 for stride, size in zip(one.array.strides, one.array.shape, strict=True)
        ):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call .contiguous "
                "on the input before passing it to gradcheck."
            )
    if not found:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )


def differentiable(outputs: Any) -> list[Tensor]:
    """The tensors among a function's results that require grad."""
    several = (outputs,) if isinstance(outputs, Tensor) else tuple(outputs)
    return [one for one in several if isinstance(one, Tensor) and one.requires_grad]


def plain_values(outputs: Any) -> list[Matrix]:
    """Copies of the arrays of all tensors among a function's results."""
    several = (outputs,) if isinstance(outputs, Tensor) else tuple(outputs)
    return [one.array.copy() for one in several if isinstance(one, Tensor)]


def random_like(tensor: Tensor, generator: np.random.Generator) -> Tensor:
    """Numbers from a standard normal distribution in a tensor's shape and dtype."""
    array = generator.standard_normal(tensor.array.shape)
    if tensor.array.dtype.kind == "c":
        array = array + 1j * generator.standard_normal(tensor.array.shape)
    return new_tensor(Tensor, np.asarray(array, tensor.array.dtype))
