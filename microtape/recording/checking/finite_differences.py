"""Checks gradients by finite differences while a program is recorded: each node's forward runs again at nearby points.

The Jacobians of small nodes are checked as well: there, a wrong entry shows even where the gradient that arrived was 0.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from microtape.functions.function_node import FunctionNode
from microtape.random import default_generator
from microtape.recording.checking.jacobians import jacobians
from microtape.recording.checking.node_again import Backward, FunctionAgain, OperationAgain, operation_backward
from microtape.recording.checking.quotients import Array, Arrays, Forward, close, moved, precision
from microtape.recording.model.model import BackwardStep, FiniteDifferences, JacobianCheck
from microtape.tape.node import Node
from microtape.tape.operation import Operation
from microtape.tape.tensor_state import TensorState
from microtape.tape.watch import watch

_MOST_ELEMENTS = 64  # of one gradient: each costs three calls of the forward
_MOST_JACOBIANS = 200  # of a segment; then only those of Functions and of wrong gradients, and ten times as many
_NONE: Array = np.zeros(0)

Check: TypeAlias = Literal["all", "functions"] | tuple[int, int]
"""Which gradients are checked: of all nodes, of the user's Functions, or of one step, as (pass index, step index)."""


class _Call(NamedTuple):
    """The forward call of a node."""

    again: FunctionAgain | OperationAgain
    arrays: Arrays
    results: Arrays


class GradientChecker:
    """Remembers the forward call of each node, and checks the gradients when the node is evaluated."""

    def __init__(self, check: Check = "all", known: GradientChecker | None = None) -> None:
        """`known` is the checker of the segment before: a node may be evaluated in another segment than recorded."""
        self.check_all = check == "all"
        self.only = None if isinstance(check, str) else tuple(check)
        self.found: list[FiniteDifferences] = []
        self.jacobians: list[JacobianCheck] = []
        self._calls: WeakKeyDictionary[Node, _Call | str]  # a text says why the forward cannot run again
        self._calls = WeakKeyDictionary() if known is None else known._calls
        self._arguments: WeakKeyDictionary[Node, Arrays] = WeakKeyDictionary()  # of Functions that are being called
        self._backwards: WeakKeyDictionary[Node, Backward] = WeakKeyDictionary()  # of operations that are running

    def calling(self, node: Node, args: Sequence[Any]) -> None:
        """Keep the arguments of a Function whose forward, which may write to them, is about to run."""
        if any(one is not None for one in node.next_nodes):
            self._arguments[node] = _copies(args)

    def remember(self, node: Node, operands: Sequence[Any], outputs: Sequence[Any], in_place: bool) -> None:
        """Note the call of a recorded operation. A built-in one in place cannot run again: its operand is gone."""
        before = self._arguments.pop(node, None)
        if not (isinstance(node, FunctionNode) or self.check_all or self.only):
            return
        again: FunctionAgain | OperationAgain
        if in_place and before is None:
            self._calls[node] = "it has overwritten its operand, so its forward cannot run again"
            return
        if isinstance(node, FunctionNode):
            again = FunctionAgain(node, operands)
        elif isinstance(node, Operation) and all(isinstance(one, TensorState) for one in operands):
            again = OperationAgain(node)
        else:
            return
        self._calls[node] = _Call(again, _copies(operands) if before is None else before, _copies(outputs))

    def started(self, node: Node) -> None:
        """Keep what an operation has saved, which may be freed before `check`."""
        call = self._calls.get(node)
        if isinstance(node, Operation) and isinstance(call, _Call) and self._may_have_jacobians(call):
            backward = operation_backward(node, call.arrays)
            if backward is not None:
                self._backwards[node] = backward

    def check(self, node: Node, pass_: int, step: BackwardStep, *, create_graph: bool = False) -> None:
        """Check the gradients of a node that has been evaluated in this step.

        With `create_graph`, a custom Function's gradients will be differentiated again, so that is checked, too.
        """
        if not node.next_nodes or (self.only is not None and self.only != (pass_, step.index)):
            return
        call, backward = self._calls.pop(node, None), self._backwards.pop(node, None)
        if not isinstance(call, _Call):
            if self.only is not None:
                self._cannot(pass_, step, 0, call or "its forward cannot run again by itself")
            return
        if len(call.arrays) != len(step.grad_inputs):
            return
        if all(one.kind != "node post" for one in step.hooks):  # else a hook may have replaced its gradients
            with _undisturbed():
                self._check_gradients(node, call, pass_, step)
        elif self.only is not None:
            self._cannot(pass_, step, 0, "a hook of the node may have replaced its gradients")
        if self._may_have_jacobians(call):
            with _undisturbed():
                self._check_jacobians(node, call, backward, pass_, step)
                if create_graph and isinstance(call.again, FunctionAgain) and not call.again.once_differentiable:
                    self._check_second_derivatives(node, call, call.again, pass_, step)

    def _check_gradients(self, node: Node, call: _Call, pass_: int, step: BackwardStep) -> None:
        numbers = [number for _, number in _tensor_outputs(node)]
        given = [step.grad_outputs[number] for number in numbers if number < len(step.grad_outputs)]
        for output, gradient in enumerate(step.grad_inputs):
            if not isinstance(gradient, np.ndarray) or gradient.dtype.kind != "f" or not gradient.size:
                continue
            found = _differences(call, output, given, gradient)
            if not isinstance(found, str):
                elements, numerical, agrees = found
                analytical = gradient.reshape(-1)[list(elements)].astype(np.float64)
                self.found.append(
                    FiniteDifferences(pass_, step.node, output, elements, analytical, numerical, agrees, "")
                )
            elif isinstance(node, FunctionNode) or self.only is not None:  # other operations are tested elsewhere
                self._cannot(pass_, step, output, found)

    def _cannot(self, pass_: int, step: BackwardStep, output: int, why: str) -> None:
        self.found.append(FiniteDifferences(pass_, step.node, output, (), _NONE, _NONE, False, why))

    def _may_have_jacobians(self, call: _Call) -> bool:
        """Whether there is room for them: most operations are right, so those of many would only take time."""
        if self.only is not None or isinstance(call.again, FunctionAgain):
            return len(self.jacobians) < 10 * _MOST_JACOBIANS
        return len(self.jacobians) < _MOST_JACOBIANS

    def _check_jacobians(
        self, node: Node, call: _Call, backward: Backward | None, pass_: int, step: BackwardStep
    ) -> None:
        """Check the Jacobians, unless the node cannot run again: the check of its gradients has said why."""
        hidden = node.without_gradient if isinstance(node, FunctionNode) else ()
        outputs = [(place, number) for place, number in _tensor_outputs(node) if number not in hidden]
        try:
            wide = _wide(call)
            if wide is None:
                return
            if isinstance(call.again, FunctionAgain):
                backward = call.again.backward(call.arrays)
            if backward is not None:
                where, needed = (pass_, step.node), [receiver is not None for receiver in node.next_nodes]
                self.jacobians += jacobians(where, call.again.forward, backward, call.arrays, wide, outputs, needed)
        except Exception:  # the user's code, at another point than the program's
            return

    def _check_second_derivatives(
        self, node: Node, call: _Call, again: FunctionAgain, pass_: int, step: BackwardStep
    ) -> None:
        """Check the derivatives of the gradients that a Function's backward sends, unless it cannot run again."""
        where, needed = (pass_, step.node), [receiver is not None for receiver in node.next_nodes]
        edges = [(edge, edge) for edge, is_needed in enumerate(needed) if is_needed]
        try:
            wide = _wide(call)
            if wide is not None:
                gradients = again.gradients(step.grad_outputs)
                backward = again.second_backward(call.arrays, step.grad_outputs)
                found = list(jacobians(where, gradients, backward, call.arrays, wide, edges, needed))
                self.jacobians += [one._replace(of_gradient=True) for one in found]
        except Exception:  # the user's code, at another point than the program's
            return


def _copies(values: Sequence[Any]) -> Arrays:
    """Copies of the arrays of the tensors among these."""
    return [np.array(one.array) for one in values if isinstance(one, TensorState)]


def _tensor_outputs(node: Node) -> list[tuple[int, int]]:
    """The outputs of a node that are tensors: their numbers among these, and among all outputs."""
    return list(enumerate(i for i in range(node.output_count) if node.output_spec(i)[0] is not None))


def _wide(call: _Call) -> Arrays | None:
    """The operands in the widest dtype in which the forward gives the same results; None if it never does."""
    wide = [one.astype(np.float64) if one.dtype.kind == "f" else one for one in call.arrays]
    for arrays in (wide, call.arrays):  # the forward may depend on its dtype
        if _same(call.again.forward(arrays), call.results):
            return arrays
    return None


def _differences(
    call: _Call, which: int, grad_outputs: Sequence[Any], gradient: Array
) -> tuple[tuple[int, ...], Array, bool] | str:
    """The checked elements, their finite differences, and whether the gradient agrees; or why it cannot be checked."""
    try:
        arrays = _wide(call)
        if arrays is None:
            return "its forward gives another result when it is called again"
        elements = _elements(gradient)
        analytical = gradient.reshape(-1)[list(elements)].astype(np.float64)
        numerical = np.array([
            _derivative(call.again.forward, arrays, which, element, grad_outputs, expected)
            for element, expected in zip(elements, analytical, strict=True)
        ])  # fmt: skip
    except Exception as error:
        return f"its forward raised {type(error).__name__} when it was called again: {error}"
    known = np.isfinite(numerical)
    if not known.any():
        return "its forward gives no finite numbers nearby"
    elements, numerical = tuple(np.array(elements)[known].tolist()), numerical[known]
    agrees = close(analytical[known], numerical, precision(arrays[which]), precision(gradient)).all()
    return elements, numerical, bool(agrees)


def _elements(gradient: Array) -> tuple[int, ...]:
    """The elements to check: all of them, or MOST_ELEMENTS spread over the array, the largest among them."""
    if gradient.size <= _MOST_ELEMENTS:
        return tuple(range(gradient.size))
    spread = np.linspace(0, gradient.size - 1, _MOST_ELEMENTS - 1).astype(int)
    return tuple(sorted({*spread.tolist(), int(np.argmax(np.abs(np.nan_to_num(gradient))))}))


def _derivative(
    forward: Forward, arrays: Arrays, which: int, element: int, grad_outputs: Sequence[Any], expected: float
) -> float:
    """The derivative of Σ grad_outputs · outputs by one element of one operand; see `Moved.quotients`."""
    near = moved(forward, arrays, which, element)
    after, here, before = near.outputs
    with np.errstate(all="ignore"):
        rise, fall = (
            sum(np.sum(g * (a - b)) for g, a, b in zip(grad_outputs, one, other, strict=False) if g is not None)
            for one, other in ((after, here), (here, before))
        )
    weight = max((float(np.abs(g).max(initial=0)) for g in grad_outputs if g is not None), default=0.0)
    return float(near.quotients(rise, fall, expected, weight))


def _same(found: Arrays, expected: Arrays) -> bool:
    """Whether a forward that ran again gave the same results as before."""
    return len(found) == len(expected) and all(
        a.shape == b.shape and np.allclose(a, b, rtol=1e-3, atol=1e-6, equal_nan=True)
        for a, b in zip(found, expected, strict=True)
    )


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
