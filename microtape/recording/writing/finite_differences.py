"""Checks gradients by finite differences while a program is recorded: each node's forward runs again at nearby points.

Source: the central difference (f(x + h) - f(x - h)) / 2h has a truncation error of order h². The step h is near the
cube root of the machine precision, where truncation and rounding errors balance. At a kink, such as that of relu at 0,
every number between the one-sided differences is a subgradient, and agrees.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from microtape.functions.function import Function
from microtape.functions.function_node import FunctionNode
from microtape.random import default_generator
from microtape.recording.model.model import FiniteDifferences, Value
from microtape.tape.grad_mode import GradMode
from microtape.tape.node import Node
from microtape.tape.operation import Operation, quiet_context
from microtape.tape.tensor_state import TensorState, new_tensor
from microtape.tape.watch import watch

_MOST_ELEMENTS = 64  # of one gradient: each costs two calls of the forward
_NONE: npt.NDArray[Any] = np.zeros(0)

Check: TypeAlias = Literal["all", "functions"]
"""Which gradients are checked: those of all nodes, or those of the user's Functions."""
Arrays = Sequence[npt.NDArray[Any]]
Forward = Callable[[Arrays], Arrays]


class GradientChecker:
    """Remembers the forward call of each node, and checks the gradients when the node is evaluated."""

    def __init__(self, check: Check = "all") -> None:
        self.check_all = check == "all"
        self.found: list[FiniteDifferences] = []
        self._calls: dict[Node, tuple[Forward, list[npt.NDArray[Any]], list[npt.NDArray[Any]]]] = {}

    def remember(self, node: Node, operands: Sequence[Any], outputs: Sequence[Any], in_place: bool) -> None:
        """Note the call of a recorded operation. An in-place one cannot run again: it has overwritten its operand."""
        wanted = not in_place and (self.check_all or isinstance(node, FunctionNode))
        forward = _forward_of(node, operands) if wanted else None
        if forward is None:
            return
        arrays = [np.array(one.array) for one in operands if isinstance(one, TensorState)]
        results = [np.array(one.array) for one in outputs if isinstance(one, TensorState)]
        self._calls[node] = forward, arrays, results

    def check(
        self, node: Node, number: int, pass_: int, grad_outputs: Sequence[Value | None], gradients: Sequence[Any]
    ) -> None:
        """Check the gradients of a node that has been evaluated, given the gradients that arrived."""
        call = self._calls.pop(node, None)
        if call is None or len(call[1]) != len(gradients):
            return
        given = [one for one in grad_outputs if one is None or isinstance(one, np.ndarray)]
        for output, gradient in enumerate(gradients):
            if not isinstance(gradient, np.ndarray) or gradient.dtype.kind != "f" or not gradient.size:
                continue
            with _undisturbed():
                found = _differences(*call, output, given, gradient)
            if isinstance(found, str):
                if isinstance(node, FunctionNode):  # built-in operations are tested elsewhere
                    self.found.append(FiniteDifferences(pass_, number, output, (), _NONE, _NONE, False, found))
                continue
            elements, numerical, agrees = found
            analytical = gradient.reshape(-1)[list(elements)].astype(np.float64)
            self.found.append(FiniteDifferences(pass_, number, output, elements, analytical, numerical, agrees, ""))


def _forward_of(node: Node, operands: Sequence[Any]) -> Forward | None:
    """The node's forward as a function of its operands' arrays, which records nothing."""
    if isinstance(node, FunctionNode):
        cls: type[Function] = node.function
        sets_up_context = cls.setup_context is not Function.setup_context

        def call(arrays: Arrays) -> Arrays:
            given = iter(arrays)
            args = [new_tensor(type(one), np.array(next(given))) if isinstance(one, TensorState) else one
                    for one in operands]  # fmt: skip
            again = cls.node_class()
            again.is_tensor_input, again.needs_input_grad = node.is_tensor_input, node.needs_input_grad
            with GradMode(False):
                returned = cls.forward(*args) if sets_up_context else cls.forward(again.ctx, *args)
            several = returned if isinstance(returned, tuple) else (returned,)
            return [one.array for one in several if isinstance(one, TensorState)]

        return call
    if isinstance(node, Operation) and all(isinstance(one, TensorState) for one in operands):

        def compute(arrays: Arrays) -> Arrays:
            result = quiet_context().run(node.twin().forward, *arrays)  # a copy: some keep a mask on the node
            return [np.asarray(one) for one in (result if isinstance(result, tuple) else (result,))]

        return compute
    return None


def _differences(
    forward: Forward,
    arrays: list[npt.NDArray[Any]],
    results: list[npt.NDArray[Any]],
    which: int,
    grad_outputs: Sequence[Any],
    gradient: npt.NDArray[Any],
) -> tuple[tuple[int, ...], npt.NDArray[Any], bool] | str:
    """The checked elements, their finite differences, and whether the gradient agrees; or why it cannot be checked."""
    try:
        wide = [one.astype(np.float64) if one.dtype.kind == "f" else one for one in arrays]
        if not _same(forward(wide), results):
            wide = arrays  # the forward may depend on its dtype
            if not _same(forward(wide), results):
                return "its forward gives another result when it is called again"
        precision = float(np.finfo(wide[which].dtype).eps)
        elements = _elements(gradient)
        analytical = gradient.reshape(-1)[list(elements)].astype(np.float64)
        numerical = np.empty(len(elements))
        for i, element in enumerate(elements):
            numerical[i] = _derivative(forward, wide, which, element, precision ** (1 / 3), grad_outputs, analytical[i])
    except Exception as error:
        return f"its forward raised {type(error).__name__} when it was called again: {error}"
    known = np.isfinite(numerical)
    if not known.any():
        return "its forward gives no finite numbers nearby"
    elements, numerical = tuple(np.array(elements)[known].tolist()), numerical[known]
    return elements, numerical, _agree(analytical[known], numerical, precision, float(np.finfo(gradient.dtype).eps))


def _elements(gradient: npt.NDArray[Any]) -> tuple[int, ...]:
    """The elements to check: all of them, or MOST_ELEMENTS spread over the array, the largest among them."""
    if gradient.size <= _MOST_ELEMENTS:
        return tuple(range(gradient.size))
    spread = np.linspace(0, gradient.size - 1, _MOST_ELEMENTS - 1).astype(int)
    return tuple(sorted({*spread.tolist(), int(np.argmax(np.abs(np.nan_to_num(gradient))))}))


def _derivative(
    forward: Forward,
    arrays: list[npt.NDArray[Any]],
    which: int,
    element: int,
    step: float,
    grad_outputs: Sequence[Any],
    expected: float,
) -> float:
    """The derivative of Σ grad_outputs · outputs by one element of one operand, as a central difference.

    At a kink it is the number nearest to `expected` between the one-sided differences.
    """
    sides = []
    at = float(arrays[which].reshape(-1)[element])
    h = step * max(1.0, abs(at))
    for moved in (at + h, at, at - h):
        changed = list(arrays)
        changed[which] = np.array(arrays[which], order="C")  # so that reshape(-1) is a view
        changed[which].reshape(-1)[element] = moved
        exact = float(changed[which].reshape(-1)[element])
        sides.append((exact, [one.astype(np.float64) for one in forward(changed)]))
    (right, after), (middle, here), (left, before) = sides
    with np.errstate(all="ignore"):
        rise, fall = (
            float(sum(np.sum(g * (a - b)) for g, a, b in zip(grad_outputs, one, other, strict=False) if g is not None))
            for one, other in ((after, here), (here, before))
        )
        central = (rise + fall) / (right - left)
        low, high = sorted((rise / (right - middle), fall / (middle - left)))
    weight = max((float(np.abs(g).max(initial=0)) for g in grad_outputs if g is not None), default=0.0)
    if (
        max(abs(rise), abs(fall)) < h**0.5 * weight
        and high - low > 1e-3 * max(abs(low), abs(high))
        and low <= expected <= high
    ):
        return expected  # a kink; a jump changes the sum by more
    return central


def _same(found: Arrays, expected: Arrays) -> bool:
    """Whether a forward that ran again gave the same results as before."""
    return len(found) == len(expected) and all(
        a.shape == b.shape and np.allclose(a, b, rtol=1e-3, atol=1e-6, equal_nan=True)
        for a, b in zip(found, expected, strict=True)
    )


def _agree(analytical: Any, numerical: Any, precision: float, of_gradient: float) -> bool:
    """Whether both agree as far as they can: differences lose a third of the digits, sums lose many, too."""
    scale = max(np.abs(np.nan_to_num(numerical)).max(), np.abs(np.nan_to_num(analytical)).max(), 1e-3)
    tolerance = 50 * precision ** (2 / 3) + max(of_gradient**0.5, 1e-6)
    return bool(np.allclose(analytical, numerical, rtol=tolerance, atol=tolerance * scale, equal_nan=True))


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Hides everything inside from watchers, and restores the random number generators afterwards."""
    twister, known, numbers = default_generator._twister.state, random.getstate(), np.random.get_state()
    watchers, words = watch.watchers, default_generator.__dict__.copy()
    watch.set(())
    try:
        yield
    finally:
        watch.set(watchers)
        default_generator.__dict__.update(words)
        default_generator._twister.state = twister
        random.setstate(known)
        np.random.set_state(numbers)
