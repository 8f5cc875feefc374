"""Checking derivatives against finite differences; see Note [Numerical and analytical] in `gradcheck_jacobians`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from microtape.basics.call_site import user_stacklevel
from microtape.errors import GradcheckError
from microtape.functions.function import Function
from microtape.tape.grad_mode import enable_grad
from microtape.tape.tensor_state import new_tensor
from microtape.tensors.differentiate import grad
from microtape.tensors.tensor import Tensor
from microtape.transforms.gradcheck_jacobians import Jacobians, Matrix, differentiable, plain_values, random_like

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

    Inputs may have any shape; those that require grad should be float64 or complex128. Each of their elements in turn
    is changed in place by ±`eps` and restored. `fast_mode` compares one random projection of each Jacobian instead of
    the whole matrix. `check_forward_ad` also compares the tangents of forward mode; without `check_backward_ad`, only
    these are compared. The formulas are in Note [Numerical and analytical].

    torch's other arguments are accepted. Gradients always have their input's dtype here, a batch of them is computed
    one by one, and no tensor is sparse: `check_grad_dtypes`, `check_batched_grad`, `check_batched_forward_grad` and
    `masked` change nothing.

    Raises:
        GradcheckError: a gradient differs by more than `atol + rtol · |numerical|`; or repeated backward passes differ
            by more than `nondet_tol`, or backward does not scale with the first gradient or fails on an undefined one.
            With `raise_exception=False`, returns False instead.
        ValueError: no input requires grad.
        RuntimeError: elements of an input share memory.
        AssertionError: nothing is to be checked, or batched gradients of a mode that is not checked.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    arguments = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    _check_inputs(arguments)
    try:
        _Check(Jacobians(func, arguments, eps), atol, rtol, nondet_tol).run(
            backward=check_backward_ad, forward=check_forward_ad, undefined=check_undefined_grad, fast_mode=fast_mode
        )
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
    """`gradcheck` of the gradients of `func`: checks its second derivatives.

    `grad_outputs` are the first gradients, in the shapes and dtypes of the outputs; by default they are random, and
    with `gen_non_contig_grad_outputs` not contiguous. `check_fwd_over_rev` checks the tangents of the gradients,
    `check_rev_over_rev` their gradients. For the other arguments and the errors see `gradcheck`.
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    if check_undefined_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_undefined_grad=True requires check_rev_over_rev to be True")
    if check_batched_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_batched_grad=True requires check_rev_over_rev to be True")
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
    sources = [i for i, one in enumerate((*arguments, *firsts)) if isinstance(one, Tensor) and one.requires_grad]

    def gradients(*everything: Any) -> tuple[Tensor, ...]:
        for i in sources:  # forward mode gives tensors without history
            everything[i].requires_grad_()
        given, first = everything[:-count], everything[-count:]
        wanted = [given[i] for i in sources if i < len(given)]
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
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
    )


class _Check:
    """One call of gradcheck."""

    def __init__(self, at: Jacobians, atol: float, rtol: float, nondet_tol: float) -> None:
        self.at, self.atol, self.rtol, self.nondet_tol = at, atol, rtol, nondet_tol

    def run(self, *, backward: bool, forward: bool, undefined: bool, fast_mode: bool) -> None:
        """Make the checks that are asked for. Raises GradcheckError at the first that fails."""
        at = self.at
        if not at.outputs:
            self.check_that_nothing_depends()
            return
        if backward and not (fast_mode and all([self.backward_agrees(i) for i in range(len(at.outputs))])):
            for i, output in enumerate(at.outputs):
                self.check_backward(i, output)
        if forward and not (fast_mode and all([self.forward_agrees(number) for number in at.numbers])):
            for number, tensor in zip(at.numbers, at.inputs, strict=True):
                self.check_forward(number, tensor)
        if forward and undefined:
            self.check_undefined_tangents()
        if backward:
            self.check_scaling(at.outputs)
        if backward and undefined:
            self.check_undefined(at.outputs)

    def compare(self, index: int, number: int, numerical: Matrix, analytical: Matrix, how: str = "") -> None:
        """Raise GradcheckError if two Jacobians differ."""
        numerical = numerical.reshape(analytical.shape)
        if not np.allclose(analytical, numerical, self.rtol, self.atol, equal_nan=True):
            raise GradcheckError(
                f"Jacobian {how}mismatch for output {index} with respect to input {number},\n"
                f"numerical:{new_tensor(Tensor, numerical)!r}\nanalytical:{new_tensor(Tensor, analytical)!r}\n"
            )

    def check_backward(self, index: int, output: Tensor) -> None:
        """Compare all Jacobians of one output, and those of two backward passes with one another."""
        at = self.at
        analytical, again = at.by_backward(output), at.by_backward(output)
        for number, tensor, ours, second in zip(at.numbers, at.inputs, analytical, again, strict=True):
            self.compare(index, number, at.numerical(tensor, index), ours)
            if ours.size and np.max(np.abs(ours - second)) > self.nondet_tol:
                raise GradcheckError(NOT_REENTRANT.format(tolerance=self.nondet_tol))

    def check_forward(self, number: int, tensor: Tensor) -> None:
        """Compare all Jacobians with respect to one input."""
        for index, ours in enumerate(self.at.by_forward(number)):
            self.compare(index, number, self.at.numerical(tensor, index), ours, "computed with forward mode ")

    def backward_agrees(self, index: int) -> bool:
        """Compare uᵀ · J · v for random u and v: numerically one step along v, analytically one backward from u."""
        at, output = self.at, self.at.outputs[index]
        generator = np.random.default_rng(index)
        u = random_like(output, generator).array
        for tensor, gradient in zip(at.inputs, at.gradients(output, u), strict=True):
            v = random_like(tensor, generator).array
            numerical = np.vdot(u.reshape(-1), at.step(tensor, v)[index]).real
            if not self.near(numerical, np.vdot(gradient, v.reshape(-1)).real, u, v):
                return False
        return True

    def forward_agrees(self, number: int) -> bool:
        """Compare uᵀ · J · v for random u and v: numerically one step along v, analytically the tangents for v."""
        at, tensor = self.at, self.at.arguments[number]
        generator = np.random.default_rng(number)
        v = random_like(tensor, generator).array
        for numerical, tangent in zip(at.step(tensor, v), at.tangents({number: v}), strict=True):
            u = generator.standard_normal(tangent.size)
            ours = tangent.reshape(-1)
            for part in (np.real, np.imag):
                if not self.near(u @ part(numerical), u @ part(ours), u, v):
                    return False
        return True

    def near(self, numerical: Any, analytical: Any, u: Matrix, v: Matrix) -> bool:
        """Whether two projections agree, within a tolerance that grows with u and v."""
        tolerance = self.atol * np.abs(u).sum() * np.abs(v).sum() + self.rtol * abs(numerical)
        return bool(abs(numerical - analytical) <= tolerance)

    def check_that_nothing_depends(self) -> None:
        """No output requires grad: then changing an input must not change the outputs."""
        func, arguments, eps = self.at.func, self.at.arguments, self.at.eps
        for tensor in self.at.inputs:
            for at in np.ndindex(tensor.array.shape):
                before = tensor.array[at].copy()
                first = plain_values(func(*arguments))
                tensor.array[at] = before + eps
                second = plain_values(func(*arguments))
                tensor.array[at] = before
                if not all(np.allclose(a, b, 0, eps * self.atol) for a, b in zip(first, second, strict=True)):
                    raise GradcheckError("Numerical gradient for function expected to be zero")

    def check_undefined_tangents(self) -> None:
        """An input without a tangent must give the same tangents as one whose tangent is zero."""
        at, generator = self.at, np.random.default_rng(0)
        tangents = {
            number: random_like(tensor, generator).array for number, tensor in zip(at.numbers, at.inputs, strict=True)
        }
        for number, tensor in zip(at.numbers, at.inputs, strict=True):
            others = {i: tangent for i, tangent in tangents.items() if i != number}
            zero = at.tangents({**others, number: np.zeros_like(tensor.array)})
            for i, (one, other) in enumerate(zip(zero, at.tangents(others), strict=True)):
                if not np.allclose(one, other):
                    raise GradcheckError(
                        f"Mismatch in tangent values for output with index: {i} when input: {number} has an undefined "
                        f"tangent value.  Got: {one} but expected: {other}"
                    )

    def check_scaling(self, outputs: list[Tensor]) -> None:
        """First gradients of zero must give zero."""
        zeros = [new_tensor(Tensor, np.zeros_like(output.array)) for output in outputs]
        found = grad(outputs, self.at.inputs, zeros, retain_graph=True, allow_unused=True)
        for gradient, tensor in zip(found, self.at.inputs, strict=True):
            if gradient is None:
                continue
            if np.any(gradient.array != 0):
                raise GradcheckError("backward not multiplied by grad_output")
            if gradient.array.dtype != tensor.array.dtype:
                raise GradcheckError("grad is incorrect type")
            if gradient.array.shape != tensor.array.shape:
                raise GradcheckError("grad is incorrect size")

    def check_undefined(self, outputs: list[Tensor]) -> None:
        """An undefined first gradient, None, must have the effect of zeros."""
        try:
            undefined = [_Undefined.apply(output) for output in outputs]
            ones = [new_tensor(Tensor, np.ones_like(output.array)) for output in outputs]
            found = grad(undefined, self.at.inputs, ones, retain_graph=True, allow_unused=True)
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


class _Undefined(Function):
    """z = x, with an undefined gradient."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Any:
        """A copy of x."""
        return x.clone()

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> None:
        """None: an undefined gradient."""


def _check_inputs(arguments: tuple[Any, ...]) -> None:
    """Raise ValueError or RuntimeError for inputs that cannot be checked; warn if the check is likely to fail."""
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
