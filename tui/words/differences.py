"""A gradient compared with finite differences: those computed while recording, else from the node's formula."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from microtape.recording.model.arithmetic import evaluate
from microtape.recording.model.formula import element, has_element, index_text, parse_formula, symbols
from microtape.recording.model.formula_names import symbol_values
from microtape.recording.model.model import BackwardStep, FiniteDifferences, JacobianCheck, NodeRecord, Recording, Value
from tui.shell.spans import Line, Span, line
from tui.time.cursor import StepCursor
from tui.words.hook_effects import on_leaving

Index = tuple[int, ...]
STEP = float(np.finfo(np.float64).eps) ** (1 / 3)  # balances rounding against the error of the method


def differences_line(cursor: StepCursor, step: BackwardStep, output: int, index: Index | None) -> Line:
    """`finite differences agree: 3.000 vs 3.000` for one element of a gradient of a step; else an empty line."""
    found = _recorded(cursor, step, output)
    term = next((one.term for one in step.deliveries if one.output == output), None)
    if found is not None and found.problem:
        return line(Span("finite differences: ", "dim"), Span(f"not checked, {found.problem}", "dim"))
    if found is not None:
        return _of_check(found, step.grad_inputs[output], index)
    numerical = _from_formula(cursor, step, output, index) if not on_leaving(step) else None
    if numerical is None or not isinstance(term, np.ndarray) or index is None or not has_element(term, index):
        return ()
    analytical = float(term[index])
    if not math.isfinite(analytical) or not math.isfinite(numerical):
        return ()  # the node received Inf or NaN: a comparison would say nothing about its rule
    return _verdict(analytical, numerical, bool(np.isclose(analytical, numerical, rtol=1e-3, atol=1e-6)))


def check_lines(cursor: StepCursor, step: BackwardStep) -> Iterator[Line]:
    """The result of the check made while recording, for each gradient of a step that was checked."""
    for output in range(len(step.grad_inputs)):
        found = _recorded(cursor, step, output)
        if found is not None:
            yield differences_line(cursor, step, output, None)


def wrong_gradients(cursor: StepCursor, step: BackwardStep) -> Iterator[Line]:
    """The result of the check made while recording, for each gradient of a step that it found wrong."""
    for output in range(len(step.grad_inputs)):
        found = _recorded(cursor, step, output)
        if found is not None and not found.agrees and not found.problem:
            yield differences_line(cursor, step, output, None)


class StepChecks(NamedTuple):
    """The checks of one step that were made while recording."""

    gradients: list[FiniteDifferences]
    jacobians: list[JacobianCheck]

    @property
    def differ(self) -> bool:
        """Whether finite differences differ anywhere."""
        return any(not one.agrees and not one.problem for one in self.gradients) or any(
            one.wrong for one in self.jacobians
        )


class _Index:
    """The checks of the last recording, by pass and node. An index, because every key press looks them up."""

    checks: tuple[FiniteDifferences, ...] = ()
    jacobians: tuple[JacobianCheck, ...] = ()
    by_step: Mapping[tuple[int, int], StepChecks] = MappingProxyType({})

    def of(self, recording: Recording) -> Mapping[tuple[int, int], StepChecks]:
        if self.checks is not recording.checks or self.jacobians is not recording.jacobians:
            self.checks, self.jacobians = recording.checks, recording.jacobians
            found: dict[tuple[int, int], StepChecks] = {}
            for check in self.checks:
                found.setdefault((check.pass_, check.node), StepChecks([], [])).gradients.append(check)
            for jacobian in self.jacobians:
                found.setdefault((jacobian.pass_, jacobian.node), StepChecks([], [])).jacobians.append(jacobian)
            self.by_step = found
        return self.by_step


_index = _Index()


def checks_of(cursor: StepCursor, node: int) -> StepChecks | None:
    """The checks of a node in this pass; None if it was not checked."""
    pass_ = cursor.timeline.pass_
    return None if pass_ is None else _index.of(cursor.recording).get((pass_.index, node))


def _recorded(cursor: StepCursor, step: BackwardStep, output: int) -> FiniteDifferences | None:
    found = checks_of(cursor, step.node)
    return next((one for one in found.gradients if one.output == output), None) if found is not None else None


def _of_check(found: FiniteDifferences, gradient: Value | None, index: Index | None) -> Line:
    """The check of the given element if it was checked; else the check of all elements."""
    if not isinstance(found.numerical, np.ndarray) or not isinstance(found.analytical, np.ndarray):
        return ()  # the recording kept only a summary of them
    shape = () if gradient is None else gradient.shape
    if index is not None and len(index) == len(shape):
        flat = int(np.ravel_multi_index(index, shape)) if shape else 0
        if flat in found.elements:
            at = found.elements.index(flat)
            numbers = float(found.analytical[at]), float(found.numerical[at])
            return _verdict(*numbers, found.agrees or bool(np.isclose(*numbers, rtol=1e-3, atol=1e-6)))
    count, size = len(found.elements), int(np.prod(shape, dtype=np.int64))
    where = ("on all its elements" if size > 1 else "here") if count == size else f"on {count} of {size:,} elements"
    if found.agrees:
        return line(Span("finite differences agree ", "good"), Span(where, "dim"))
    with np.errstate(invalid="ignore"):  # of infinities
        apart = np.abs(np.subtract(found.analytical, found.numerical, dtype=np.float64))
    worst = int(np.argmax(np.nan_to_num(apart, nan=np.inf)))
    place = np.unravel_index(found.elements[worst], shape) if shape else ()
    numbers = float(found.analytical[worst]), float(found.numerical[worst])
    where = f" at {index_text(tuple(int(i) for i in place))}" if shape else ""
    return line(*_verdict(*numbers, False), Span(where, "dim"))


def _verdict(analytical: float, numerical: float, agrees: bool) -> Line:
    numbers = f"{_four(analytical)} vs {_four(numerical)}"
    if agrees:
        return line(Span("finite differences agree: ", "good"), Span(numbers, "dim"))
    return line(Span("finite differences differ: ", "bad"), Span(f"it sent {_four(analytical)}, they give "),
                Span(_four(numerical), "bad"))  # fmt: skip


def _four(x: float) -> str:
    """Four digits with trailing zeros, so that equal numbers look equal."""
    return format(x + 0.0, "#.4g").rstrip(".")  # + 0.0: no -0


def _from_formula(cursor: StepCursor, step: BackwardStep, output: int, index: Index | None) -> float | None:
    """The difference quotient of `z = x · y` at one element, if the formula is arithmetic and gives the recorded value.

    Only for elementwise operations: there the quotient is the whole derivative.
    """
    node = cursor.timeline.node(step.node)
    order, result = symbols(node), parse_formula(node.formula).result
    gradient = step.grad_outputs[0] if len(step.grad_outputs) == 1 else None
    computed = cursor.recording.value(node.outputs[0]) if node.outputs else None
    if index is None or not order or not isinstance(gradient, np.ndarray) or not isinstance(computed, np.ndarray):
        return None
    if not _is_elementwise(node, result) or len(index) != computed.ndim or gradient.shape != computed.shape:
        return None
    known = symbol_values(cursor.recording, node, None)
    numbers = {symbol: element(known.get(symbol), computed.shape, index) for symbol in order}
    if any(number is None for number in numbers.values()) or _shape(known.get(order[output])) != computed.shape:
        return None
    text = result.rpartition("=")[2]  # the last part of `z = σ(x) = 1 / (1 + e⁻ˣ)` is arithmetic
    at = {symbol: float(number) for symbol, number in numbers.items() if number is not None}
    here, recorded, slope = evaluate(text.strip(), at), *(element(x, x.shape, index) for x in (computed, gradient))
    if here is None or recorded is None or slope is None or not np.isclose(here, recorded, rtol=1e-3, atol=1e-6):
        return None
    return _quotient(text.strip(), at, order[output], slope)


def _quotient(text: str, at: Mapping[str, float], symbol: str, gradient: float) -> float | None:
    h = STEP * max(1.0, abs(at[symbol]))
    after, before = (evaluate(text, {**at, symbol: at[symbol] + moved}) for moved in (h, -h))
    return None if after is None or before is None else gradient * (after - before) / (2 * h)


def _is_elementwise(node: NodeRecord, result: str) -> bool:
    """Whether the formula has only small letters, which stand for single elements, and no sum over elements."""
    mixes = re.search(r"[A-ZΣΠ]|\b(of|in|at|with)\b", result)
    return bool(result) and not mixes and node.kind == "operation"


def _shape(value: Value | None) -> Index | None:
    return None if value is None else value.shape
