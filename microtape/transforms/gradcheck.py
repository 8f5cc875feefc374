"""Checking derivatives against finite differences; see Note [Numerical and analytical] in `gradcheck_jacobians`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from microtape.basics.call_site import user_stacklevel
from microtape.errors import GradcheckError
from microtape.functions.function import Function
from microtape.random import Generator, drawn
from microtape.tape.tensor_state import new_tensor
from microtape.tensors.differentiate import grad
from microtape.tensors.tensor import Tensor
from microtape.transforms.forward_ad import dual_level, unpack_dual
from microtape.transforms.gradcheck_fast import check_fast, input_directions
from microtape.transforms.gradcheck_jacobians import Problem, as_tuple, differentiable, duals
from microtape.transforms.gradcheck_slow import Settings, check_slow, is_close


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

    `check_undefined_grad` also compares undefined gradients and tangents with zeros, `check_grad_dtypes` the dtypes of
    gradients with those of their inputs. With `masked`, gradients for a first gradient of 0 may be nearly 0 instead of
    0. `check_batched_grad` and `check_batched_forward_grad` change nothing: a batch is computed one by one here.

    Raises:
        GradcheckError: a gradient differs by more than `atol + rtol · |numerical|`; or repeated backward passes differ
            by more than `nondet_tol`, or backward does not scale with the first gradient or fails on an undefined one.
            With `raise_exception=False`, returns False instead.
        ValueError: no input requires grad.
        RuntimeError: elements of an input share memory.
        AssertionError: nothing is to be checked, or batched gradients of a mode that is not checked; or a result
            changes its shape or dtype with the inputs.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    settings = Settings(eps, atol, rtol, nondet_tol, check_grad_dtypes, bool(masked))
    check = check_fast if fast_mode else check_slow
    try:
        arguments = as_tuple(inputs)
        _check_inputs(arguments)
        problem = Problem(func, arguments)
        if check_backward_ad:
            for part in _parts_of_outputs(problem):
                check(part, settings, forward=False)
        if check_forward_ad:
            parts = []
            for part in _parts_of_inputs(problem):
                check(part, settings, forward=True)
                parts.append(part)
            for part in parts if check_undefined_grad else ():
                _check_undefined_tangents(part)
        if check_backward_ad:
            _check_scaling(problem, settings)
        if check_backward_ad and check_undefined_grad:
            _check_undefined_gradients(problem)
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
    arguments = as_tuple(inputs)
    if grad_outputs is None:
        firsts = tuple([_random_gradient(one, gen_non_contig_grad_outputs) for one in differentiable(func(*arguments))])
    else:
        firsts = as_tuple(grad_outputs)
    count = len(firsts)
    sources = [i for i, one in enumerate((*arguments, *firsts)) if isinstance(one, Tensor) and one.requires_grad]

    def gradients(*everything: Any) -> tuple[Tensor, ...]:
        for i in sources:  # forward mode gives tensors without history
            everything[i].requires_grad_()
        given, first = everything[:-count], everything[-count:]
        wanted = [given[i] for i in sources if i < len(given)]
        found = grad(differentiable(func(*given)), wanted, first, create_graph=True, allow_unused=True)
        return tuple([gradient for gradient in found if gradient is not None])

    return gradcheck(
        gradients,
        (*arguments, *firsts),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _random_gradient(output: Tensor, non_contiguous: bool) -> Tensor:
    """A leaf with random numbers between -1 and 1, in the shape and dtype of `output`."""
    *others, last = shape = output.array.shape or (1,)
    skips = non_contiguous and output.array.size > 1
    array = drawn("uniform", (*others, 2 * last) if skips else shape, output.array.dtype, None)
    array = array * 2 - (1 + 1j if array.dtype.kind == "c" else 1)
    array = array[..., 1::2] if skips else array.reshape(output.array.shape)
    return new_tensor(Tensor, array).requires_grad_()


def _parts_of_outputs(problem: Problem) -> Iterator[Problem]:
    """The problem; with complex results two problems, whose functions return the imaginary and the real parts."""
    if not any([result.is_complex() for result in problem.results]):
        yield problem
        return
    numbers = [i for i, output in enumerate(problem.outputs) if output.is_complex()]

    def only(name: str) -> Callable[..., Any]:
        part = attrgetter(name)
        return lambda *inputs: tuple([part(z) if z.is_complex() else z for z in as_tuple(problem.func(*inputs))])

    yield Problem(only("imag"), problem.inputs, numbers, "imaginary")
    yield Problem(only("real"), problem.inputs, numbers, "real")


def _parts_of_inputs(problem: Problem) -> Iterator[Problem]:
    """The problem; with complex inputs two problems, whose functions take the imaginary and the real parts."""
    inputs = problem.inputs
    numbers = [i for i, one in enumerate(inputs) if isinstance(one, Tensor) and one.is_complex()]
    if not numbers:
        yield problem
        return

    def of_imaginary(*parts: Any) -> Any:
        return problem.func(*[inputs[i].real + one * 1j if i in numbers else one for i, one in enumerate(parts)])

    def of_real(*parts: Any) -> Any:
        return problem.func(*[one + inputs[i].imag * 1j if i in numbers else one for i, one in enumerate(parts)])

    imaginary = [one.imag if i in numbers else one for i, one in enumerate(inputs)]
    real = [one.real if i in numbers else one for i, one in enumerate(inputs)]
    yield Problem(of_imaginary, imaginary, numbers, "imaginary")
    yield Problem(of_real, real, numbers, "real")


def _check_undefined_tangents(problem: Problem) -> None:
    """Raise GradcheckError if an input without a tangent gives other tangents than one whose tangent is zero."""
    with dual_level():
        tangents = [u for u, _ in input_directions(problem.wanted, Generator())]
        inputs = duals(problem.inputs, tangents)
        for number, one in enumerate(problem.inputs):
            if not isinstance(one, Tensor) or not one.requires_grad:
                continue
            found = []
            for given in (duals([one], [np.zeros_like(one.array)])[0], one.detach()):
                results = as_tuple(problem.func(*[*inputs[:number], given, *inputs[number + 1 :]]))
                found.append([unpack_dual(results[i]).tangent for i in problem.floating])
            for index, (zero, undefined) in enumerate(zip(*found, strict=True)):
                if zero is None or undefined is None or is_close(zero.array, undefined.array, 1e-5, 1e-8):
                    continue
                raise GradcheckError(
                    f"Mismatch in tangent values for output with index: {index} when input: {one} has an undefined "
                    f"tangent value.  Got: {zero} but expected: {undefined}"
                )


def _check_scaling(problem: Problem, settings: Settings) -> None:
    """Raise GradcheckError if first gradients of zero do not give zeros. Frees the graph."""
    zeros = [new_tensor(Tensor, np.zeros(output.array.shape, output.array.dtype)) for output in problem.outputs]
    found = grad(problem.outputs, problem.wanted, zeros, allow_unused=True)
    for gradient, tensor in zip(found, problem.wanted, strict=True):
        if gradient is None:
            continue
        if not (is_close(gradient.array, 0, 1e-5, 1e-8) if settings.masked else np.all(gradient.array == 0)):
            raise GradcheckError("backward not multiplied by grad_output")
        if gradient.array.dtype != tensor.array.dtype:
            raise GradcheckError("grad is incorrect type")


def _check_undefined_gradients(problem: Problem) -> None:
    """Raise GradcheckError if an undefined first gradient, None, does not have the effect of zeros.

    All first gradients are undefined at once; then, of several outputs, the one of each output in turn.
    """
    passes = [[_Undefined.apply(output) for output in problem.fresh_outputs()]]
    if len(passes[0]) > 1:
        for undefined in range(len(problem.outputs)):
            outputs = problem.fresh_outputs()
            passes.append([_Undefined.apply(one) if i == undefined else one for i, one in enumerate(outputs)])
    for outputs in passes:
        zeros = [new_tensor(Tensor, np.zeros(output.array.shape, output.array.dtype)) for output in outputs]
        try:
            found = grad(outputs, problem.wanted, zeros, allow_unused=True)
        except RuntimeError as error:
            _warn_of_undefined_gradients()
            raise GradcheckError(
                "Expected backward function to handle undefined output grads. Please look at "
                '"Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
            ) from error
        if any([gradient is not None and not np.all(gradient.array == 0) for gradient in found]):
            _warn_of_undefined_gradients()
            raise GradcheckError(
                "Expected all input grads to be undefined or zero when all output grads are undefined or zero. Please "
                'look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
            )


def _warn_of_undefined_gradients() -> None:
    """Warn that this check is newer than the others, and how to leave it out."""
    warnings.warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may "
        "break existing callers of this function. If this is true for you, you can call this function with "
        '"check_undefined_grad=False" to disable the feature',
        stacklevel=user_stacklevel(),
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
        if any([stride == 0 and size > 1 for stride, size in zip(one.stride(), one.array.shape, strict=True)]):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call .contiguous "
                "on the input before passing it to gradcheck."
            )
    if not found:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )
