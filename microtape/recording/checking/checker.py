"""Compares the gradients and the Jacobians of nodes with finite differences of their forward.

A subclass for each engine remembers the forward call of each node, and says when one has been evaluated. Each such call
can run again at nearby points, on arrays. The Jacobians of small nodes are checked as well: there, a wrong entry shows
even where the gradient that arrived was 0.
"""

from __future__ import annotations

import inspect
import warnings
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, NamedTuple, Protocol

import numpy as np

from microtape.recording.checking.jacobians import MovedOperand, jacobians
from microtape.recording.checking.quotients import (
    Array,
    Arrays,
    Backward,
    Forward,
    close,
    moved,
    other_steps,
    precision,
)
from microtape.recording.model.model import BackwardStep, FiniteDifferences, JacobianCheck
from microtape.recording.model.options import Check

_MOST_ELEMENTS = 64  # of one gradient: each costs three calls of the forward
_FEWEST_ELEMENTS = 4  # of a gradient whose node has large operands
_FREE = 4_096  # elements of all operands together: up to there, a call does not count as work
_SMALL = 65_536  # the same of a Function: beyond, fewer elements of its gradients are checked; else beyond `_FREE`
_OFTEN = 100  # gradients of one Function; of later ones, a few elements are checked
_MOST_WORK = 1 << 29  # elements that forward computes with again, in all calls together
_MOST_JACOBIANS = 200  # of a segment; then only those of Functions and of wrong gradients, and ten times as many
_NONE: Array = np.zeros(0)


class Again(Protocol):
    """The call of a node, to be run again on other arrays."""

    cls: Any  # of a Function
    once_differentiable: bool  # whether the user has declared that its backward has no derivative
    coarsest: float  # the machine precision of the results of the last run, if arrays do not have their dtype; else 0

    def forward(self, arrays: Arrays) -> Arrays:
        """Its outputs that are tensors."""

    def gradients(self, grad_outputs: Sequence[Any]) -> Forward:
        """Its backward for these gradients of the outputs, as a function of the operands: zeros where it gives None."""

    def second_backward(self, arrays: Arrays, grad_outputs: Sequence[Any]) -> Backward:
        """The derivatives of these gradients by the operands, as double backward computes them."""


class Called(NamedTuple):
    """The forward call of a node."""

    again: Any  # an `Again`; of a built-in operation it needs `forward` alone
    is_function: bool
    arrays: Arrays  # the operands that are tensors
    results: Arrays
    precisions: Sequence[float]  # the machine precision of each operand: that of its array, or a lower one


class Evaluated(NamedTuple):
    """A node that has been evaluated in a step."""

    called: Called
    pass_: int
    step: BackwardStep
    grad_outputs: Sequence[Any]  # arrays, or None
    grad_inputs: Sequence[Any]
    edges: Sequence[int | None]  # for each operand the edge that its gradient takes; None: unknown
    is_needed: Sequence[bool]  # for each operand, whether its gradient goes on
    outputs: Sequence[tuple[int, int]]  # those that are tensors: their numbers among these, and among all outputs
    without_gradient: Container[int]  # outputs that are not differentiable
    backward: Callable[[Arrays], Backward | None]  # its backward, after a forward on these arrays; None: not known

    @property
    def needed_edges(self) -> list[int | None]:
        """The edges of those operands whose gradient goes on."""
        return [edge if needed else None for edge, needed in zip(self.edges, self.is_needed, strict=True)]


def _file_of(function: Any) -> str:
    """The file of a Function's forward; empty if it is not written in Python."""
    code = getattr(inspect.unwrap(function.forward), "__code__", None)
    return code.co_filename if code is not None else ""


class Checker:
    """What is found by finite differences in one segment, and what is to be checked."""

    def __init__(self, check: Check, known: Checker | None, is_installed: Callable[[str], bool]) -> None:
        """`known` is the checker of the segment before; `is_installed`: whether a file belongs to a package."""
        self.check_all = check == "all"
        self.only = None if isinstance(check, str) else tuple(check)
        self._is_installed = is_installed
        self.found: list[FiniteDifferences] = []
        self.jacobians: list[JacobianCheck] = []
        self._work: int = known._work if known is not None else 0
        self._often: Counter[Any] = known._often if known is not None else Counter()  # how often a Function was checked

    def remembers(self, function: type | None) -> bool:
        """Whether to keep a call of this Function, or of an operation (None).

        A Function of an installed package is not the user's to mend, and may send what is no derivative on purpose.
        """
        if self.check_all or self.only is not None:
            return True
        return function is not None and not self._is_installed(_file_of(function))

    def wants(self, pass_: int, step: BackwardStep) -> bool:
        """Whether to check this step."""
        return self.only is None or self.only == (pass_, step.index)

    def compare(
        self, one: Evaluated, undisturbed: Callable[[], AbstractContextManager[None]], *, create_graph: bool
    ) -> None:
        """Check a node. All that is called again runs inside of `undisturbed()`.

        With `create_graph`, a custom Function's gradients will be differentiated again, so that is checked, too.
        """
        if all(hook.kind != "node post" for hook in one.step.hooks):  # else a hook may have replaced its gradients
            with undisturbed(), _without_warnings():
                self._check_gradients(one)
        elif self.only is not None:
            self.cannot(one.pass_, one.step, 0, "a hook of the node may have replaced its gradients")
        if self.may_have_jacobians(one.called.is_function) and not self._is_known(one.called):
            with undisturbed(), _without_warnings():
                self._check_jacobians(one)
                if create_graph and one.called.is_function and not one.called.again.once_differentiable:
                    self._check_second_derivatives(one)

    def cannot(self, pass_: int, step: BackwardStep, edge: int, why: str) -> None:
        """Note that a gradient cannot be checked."""
        self.found.append(FiniteDifferences(pass_, step.node, edge, (), _NONE, _NONE, False, why))

    def may_have_jacobians(self, is_function: bool) -> bool:
        """Whether there is room for them: most operations are right, so those of many would only take time."""
        if self.only is not None or is_function:
            return len(self.jacobians) < 10 * _MOST_JACOBIANS
        return len(self.jacobians) < _MOST_JACOBIANS

    def _check_gradients(self, one: Evaluated) -> None:
        given = [one.grad_outputs[number] for _, number in one.outputs if number < len(one.grad_outputs)]
        for operand, edge in enumerate(one.edges):
            gradient = one.grad_inputs[edge] if edge is not None else None
            if edge is None or not isinstance(gradient, np.ndarray) or gradient.dtype.kind != "f" or not gradient.size:
                continue
            elements = _elements(gradient, self._how_many(one.called))
            found = _differences(one.called, operand, given, gradient, elements) if elements else _TOO_MUCH
            if not isinstance(found, str):
                elements, numerical, agrees = found
                analytical = gradient.reshape(-1)[list(elements)].astype(np.float64)
                self.found.append(
                    FiniteDifferences(one.pass_, one.step.node, edge, elements, analytical, numerical, agrees, "")
                )
            elif one.called.is_function or self.only is not None:  # other operations are tested elsewhere
                self.cannot(one.pass_, one.step, edge, found)

    def _how_many(self, called: Called) -> int:
        """How many elements of a gradient to check: fewer of large ones, and none after too much work."""
        size = sum([one.size for one in called.arrays])
        small = _SMALL if called.is_function or self.only is not None else _FREE
        count = max(_FEWEST_ELEMENTS, min(_MOST_ELEMENTS, _MOST_ELEMENTS * small // max(size, 1)))
        if called.is_function:
            self._often[called.again.cls] += 1
        if self._is_known(called):
            count = _FEWEST_ELEMENTS
        if self.only is None and size > _FREE:
            if self._work > _MOST_WORK:
                return 0
            self._work += 3 * count * size
        return count

    def _is_known(self, called: Called) -> bool:
        """Whether a Function has been checked so often that a few elements will do."""
        return called.is_function and self.only is None and self._often[called.again.cls] > _OFTEN

    def _check_jacobians(self, one: Evaluated) -> None:
        """Check the Jacobians, unless the node cannot run again: the check of its gradients has said why."""
        outputs = [(place, number) for place, number in one.outputs if number not in one.without_gradient]
        called = one.called
        try:
            wide = _wide(called)
            backward = one.backward(called.arrays) if not isinstance(wide, str) else None
            if backward is not None and not isinstance(wide, str):
                self.jacobians += jacobians(
                    (one.pass_, one.step.node), called.again.forward, backward, wide.operands(called), outputs,
                    one.needed_edges,
                )  # fmt: skip
        except Exception:  # the user's code, at another point than the program's
            return

    def _check_second_derivatives(self, one: Evaluated) -> None:
        """Check the derivatives of the gradients that a Function's backward sends, unless it cannot run again."""
        called, again = one.called, one.called.again
        sent = [(operand, edge) for operand, edge in enumerate(one.needed_edges) if edge is not None]
        try:
            wide = _wide(called)
            if not isinstance(wide, str):
                gradients = again.gradients(one.grad_outputs)
                backward = again.second_backward(called.arrays, one.grad_outputs)
                where = one.pass_, one.step.node
                found = list(jacobians(where, gradients, backward, wide.operands(called), sent, one.needed_edges))
                self.jacobians += [one._replace(of_gradient=True) for one in found]
        except Exception:  # the user's code, at another point than the program's
            return


_TOO_MUCH = "so many large gradients were checked before it that it was left out"
_ANOTHER = "its forward gives another result when it is called again"
_COARSE = "its forward computes in a dtype that is too coarse for differences"
_UNSTEADY = "its forward gives other differences with each step: it rounds, jumps or stops iterating early"
_TOO_COARSE = 1e-4
_MOST_DOUBTED = 8  # elements
_STEADY = 0.25  # of what the gradient and the differences are apart, the differences with other steps are at most


class _Wide(NamedTuple):
    """The operands in the widest dtype in which the forward gives the same results."""

    arrays: Arrays
    coarsest: float  # the machine precision of its results

    def precision(self, operand: int) -> float:
        """The precision of differences by this operand."""
        array = self.arrays[operand]
        return max(precision(array), self.coarsest) if array.dtype.kind == "f" else 0.0

    def operands(self, called: Called) -> list[MovedOperand]:
        """The operands of a call, as their Jacobians need them."""
        return [
            MovedOperand(array, wide, self.precision(i), of_gradient)
            for i, (array, wide, of_gradient) in enumerate(
                zip(called.arrays, self.arrays, called.precisions, strict=True)
            )
        ]


def _wide(called: Called) -> _Wide | str:
    """The operands for the differences; a text if there are none."""
    again, known = called.again, max(called.precisions, default=0.0)
    wide = [one.astype(np.float64) if one.dtype.kind == "f" else one for one in called.arrays]
    for arrays in (wide, called.arrays):  # the forward may depend on its dtype
        found = again.forward(arrays)
        if _same(found, called.results, known):
            coarsest = max([again.coarsest, *(precision(one) for one in found if one.dtype.kind == "f")])
            if arrays is not wide:
                coarsest = max(coarsest, known)
            return _Wide(arrays, coarsest) if coarsest < _TOO_COARSE else _COARSE
    return _ANOTHER


def _differences(
    called: Called, which: int, grad_outputs: Sequence[Any], gradient: Array, elements: tuple[int, ...]
) -> tuple[tuple[int, ...], Array, bool] | str:
    """The checked elements, their finite differences, and whether the gradient agrees; or why it cannot be checked."""
    try:
        wide = _wide(called)
        if isinstance(wide, str):
            return wide
        analytical = gradient.reshape(-1)[list(elements)].astype(np.float64)
        numerical = np.array([
            _derivative(called.again.forward, wide, which, element, grad_outputs, expected)
            for element, expected in zip(elements, analytical, strict=True)
        ])  # fmt: skip
    except Exception as error:
        return f"its forward raised {type(error).__name__} when it was called again: {error}"
    known = np.isfinite(numerical)
    if not known.any():
        return "its forward gives no finite numbers nearby"
    of_gradient = max(called.precisions[which], precision(gradient))
    agrees = np.ones(len(elements), bool)
    agrees[known] = close(analytical[known], numerical[known], wide.precision(which), of_gradient)
    if not agrees.all():
        try:
            known &= _is_steady(
                called.again.forward, wide, which, elements, grad_outputs, analytical, numerical, agrees
            )
        except Exception as error:
            return f"its forward raised {type(error).__name__} when it was called again: {error}"
        if not known.any():
            return _UNSTEADY
    return tuple(np.array(elements)[known].tolist()), numerical[known], bool(agrees[known].all())


def _is_steady(
    forward: Forward, wide: _Wide, which: int, elements: Sequence[int], grad_outputs: Sequence[Any],
    analytical: Array, numerical: Array, agrees: Array,
) -> Array:  # fmt: skip
    """Whether an element tells something: if its differences contradict the gradient, so do those with other steps.

    Of many such elements, a few are tried: the worst, and others. If most tell nothing, the rest do so by chance.
    """
    apart = np.abs(analytical - numerical)
    wrong = np.flatnonzero(~agrees)
    worst = wrong[np.argsort(-apart[wrong], kind="stable")]
    tried = worst[np.unique(np.linspace(0, len(worst) - 1, _MOST_DOUBTED).astype(int))]
    steady: Array = np.ones(len(agrees), bool)
    for i in tried.tolist():
        steady[i] = all(
            abs(_derivative(forward, wide, which, elements[i], grad_outputs, analytical[i], times) - numerical[i])
            < _STEADY * apart[i]
            for times in other_steps(wide.precision(which))
        )
    if 2 * np.count_nonzero(steady[tried]) < len(tried):
        steady[wrong] = False
    return steady


def _elements(gradient: Array, count: int) -> tuple[int, ...]:
    """The elements to check: all of them, or as many as `count`, spread over the array, the largest among them."""
    if gradient.size <= count:
        return tuple(range(gradient.size))
    if not count:
        return ()
    spread = np.linspace(0, gradient.size - 1, count - 1).astype(int)
    return tuple(sorted({*spread.tolist(), int(np.argmax(np.abs(np.nan_to_num(gradient))))}))


def _derivative(
    forward: Forward, wide: _Wide, which: int, element: int, grad_outputs: Sequence[Any], expected: float,
    times: float = 1.0,
) -> float:  # fmt: skip
    """The derivative of Σ grad_outputs · outputs by one element of one operand; see `Moved.quotients`."""
    near = moved(forward, wide.arrays, which, element, wide.precision(which), times)
    after, here, before = near.outputs
    with np.errstate(all="ignore"):
        rise, fall = (
            sum(np.sum(g * (a - b)) for g, a, b in zip(grad_outputs, one, other, strict=False) if g is not None)
            for one, other in ((after, here), (here, before))
        )
    weight = max((float(np.abs(g).max(initial=0)) for g in grad_outputs if g is not None), default=0.0)
    return float(near.quotients(rise, fall, expected, weight))


def _same(found: Arrays, expected: Arrays, coarsest: float) -> bool:
    """Whether a forward that ran again gave the same results as before, within the precision of its operands."""
    return len(found) == len(expected) and all(
        a.shape == b.shape
        and np.allclose(a, b, rtol=max(1e-3, 4 * coarsest), atol=max(1e-6, coarsest**2), equal_nan=True)
        for a, b in zip(found, expected, strict=True)
    )


@contextmanager
def _without_warnings() -> Iterator[None]:
    """A context in which no warning is shown: the program has given those of its forward, and nobody expects more.

    NB: after `warnings.catch_warnings`, Python would show those again that it has shown once.
    """
    ignore = ("ignore", None, Warning, None, 0)
    filters: Any = warnings.filters
    filters.insert(0, ignore)
    try:
        yield
    finally:
        with suppress(ValueError):  # what runs inside may have set other filters
            filters.remove(ignore)
