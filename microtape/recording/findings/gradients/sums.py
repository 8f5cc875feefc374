"""Wrong sums in a recording that an engine of the user's own has written: what is stored is not what was delivered.

In a recording of microtape's or PyTorch's passes, the recorder computes these sums, so there is nothing to compare.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import headline
from microtape.recording.model.formatting import format_value
from microtape.recording.model.model import BackwardStep, Pass, Value
from microtape.recording.model.options import OWN_ENGINE

_ROUNDING = 1e-5  # of the larger summand: an engine may compute in single precision
_LONGEST = 24


class _Wrong(NamedTuple):
    """One wrong sum."""

    step: BackwardStep
    node: int  # whose gradient it is
    headlines: tuple[str, ...]
    line: str
    remedy: str


def wrong_sums(program: Program) -> Iterator[Finding]:
    """The first wrong sum: what comes after it is mostly the same mistake, or follows from it."""
    if not program.recording.options.get(OWN_ENGINE):
        return
    for find in (_added_wrongly, _ran_without, _stored_wrongly):
        for position, pass_ in enumerate(program.recording.passes):
            if (found := next(find(program, pass_), None)) is not None:
                yield _finding(program, position, found)
                return


def _finding(program: Program, position: int, wrong: _Wrong) -> Finding:
    node = program.node(wrong.node)
    place = program.node(wrong.step.node).place or node.place or program.recording.passes[position].place
    return Finding(
        "wrong sum", "error", headline(*wrong.headlines), (wrong.line,), wrong.remedy, place, position,
        wrong.step.index, node.id, program.tensor_of(node),
    )  # fmt: skip


def _added_wrongly(program: Program, pass_: Pass) -> Iterator[_Wrong]:
    """A delivery after which the sum is not what was there and what came."""
    again = _rows_that_run_again(pass_)
    for step in pass_.steps:
        for one in step.deliveries:
            right = _sum(one.before, one.term)
            if one.node in again or _agree(one.total, right, one.before, one.term):
                continue
            name, total, term = program.name(one.node), _text(one.total), _text(one.term)
            sender = program.name(step.node)
            had = "nothing" if one.before is None else _text(one.before)
            yield _Wrong(
                step, one.node,
                (f"The gradient of {name} was {had}, {term} came, and now it is {total}, not {_text(right)}",
                 f"What arrives at {name} is not added: its gradient is {total}, not {_text(right)}",
                 f"What arrives at {name} is not added to its gradient"),
                f"{sender} sends {term} to {name}, where {had} had arrived: that makes {_text(right)}.",
                f"Add what arrives at {name}: keep a sum for each number, and begin with what comes first.",
            )  # fmt: skip


def _ran_without(program: Program, pass_: Pass) -> Iterator[_Wrong]:
    """A row that ran once, and took something else than the sum of all that arrives in the pass."""
    again = _rows_that_run_again(pass_)
    arrived: dict[int, Value | None] = {
        root.node: seed for root, seed in zip(pass_.roots, pass_.seeds, strict=False) if root.node is not None
    }
    ran: dict[int, BackwardStep] = {}
    for step in pass_.steps:
        if program.node(step.node).variable is None and step.node not in again:
            took, sum_ = step.grad_outputs[0], arrived.get(step.node)
            if sum_ is not None and not _agree(took, sum_, sum_):
                name = program.name(step.node)
                yield _Wrong(
                    step, step.node,
                    (f"The row of {name} takes {_text(took)}, but {_text(sum_)} has arrived",
                     f"The row of {name} takes another gradient than what has arrived"),
                    f"{_text(sum_)} is the sum of what had arrived at {name} when its row ran.",
                    f"Let the row of {name} take the whole sum.",
                )  # fmt: skip
            ran[step.node] = step
        for one in step.deliveries:
            if one.node in ran and _is_something(one.term):
                name, took = program.name(one.node), ran[one.node].grad_outputs[0]
                yield _Wrong(
                    ran[one.node], one.node,
                    (f"{name} runs too early, with {_text(took)}: {_text(one.term)} arrives later, and is lost",
                     f"The row of {name} runs too early: what arrives later is lost"),
                    f"{program.name(step.node)} runs after {name}, and sends it {_text(one.term)}.",
                    "A row may run when all that uses its result has run: go back over the rows, last one first.",
                )  # fmt: skip
            arrived[one.node] = one.total


def _stored_wrongly(program: Program, pass_: Pass) -> Iterator[_Wrong]:
    """A leaf whose `.grad`, at the end, is not what was there before the pass and what came in it."""
    total = {one.node: one.total for step in pass_.steps for one in step.deliveries}
    last = {step.node: step for step in pass_.steps if step.grad_after is not None}
    for node, step in last.items():
        tensor = program.tensor_of(program.node(node))
        before = pass_.grads.get(tensor) if tensor is not None else None
        came = total.get(node)
        right = _sum(before, came)
        if came is None or _agree(step.grad_after, right, before, came):
            continue
        name, had = program.name(node), "None" if before is None else _text(before)
        yield _Wrong(
            step, node,
            (f"{name}.grad was {had}, {_text(came)} came, and now it is {_text(step.grad_after)}, not {_text(right)}",
             f"{name}.grad is {_text(step.grad_after)}, and should be {_text(right)}",
             f"{name}.grad is not what was there and what came"),
            f"{_text(came)} arrived at {name} in this pass, and its .grad was {had}.",
            f"Add to {name}.grad what a pass brings; None counts as nothing.",
        )  # fmt: skip


def _rows_that_run_again(pass_: Pass) -> set[int]:
    """Rows that run once for each path may add up at the leaves alone, which is slow, but right."""
    counts = Counter(step.node for step in pass_.steps if step.grad_after is None)
    return {node for node, times in counts.items() if times > 1}


def _sum(one: Value | None, other: Value | None) -> Value | None:
    """The sum of both; None if it is not known."""
    if one is None or other is None:
        return other if one is None else one
    first, second = _numbers(one), _numbers(other)
    if first is None or second is None or first.shape != second.shape:
        return None
    with np.errstate(all="ignore"):
        return np.asarray(first + second)  # of numbers without dimensions, numpy makes no array


def _agree(found: Value | None, right: Value | None, *summands: Value | None) -> bool:
    """Whether two arrays agree, to rounding; also if one of them is not known, or has another shape."""
    one, other = _numbers(found), _numbers(right)
    if one is None or other is None or one.shape != other.shape:
        return True
    sizes = [np.abs(size) for size in (other, *map(_numbers, summands)) if size is not None]
    largest = np.maximum.reduce([np.where(np.isfinite(size), size, 0) for size in sizes])
    return bool(np.all(np.isclose(one, other, rtol=_ROUNDING, atol=_ROUNDING * largest, equal_nan=True)))


def _numbers(value: Value | None) -> npt.NDArray[np.float64] | None:
    """The numbers of an array that was recorded whole."""
    is_array = isinstance(value, np.ndarray) and value.dtype.kind in "biuf"
    return np.asarray(value, np.float64) if is_array else None


def _is_something(value: Value | None) -> bool:
    numbers = _numbers(value)
    return numbers is not None and bool(np.any(numbers != 0))


def _text(value: Value | None) -> str:
    return format_value(value, _LONGEST)
