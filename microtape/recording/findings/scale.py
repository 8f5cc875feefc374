"""Gradients that vanish or explode on their way back through layers or time steps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from microtape.recording.findings.finding import Finding, FindingKind
from microtape.recording.findings.program import Program, at, headline
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import BackwardStep, Pass

FEWEST = 4  # layers or time steps
VANISHED, EXPLODED = 1e-5, 1e4  # the factor from the first to the last


_VERBS = {"vanishing": "vanishes", "exploding": "explodes"}


class _Station(NamedTuple):
    """A repeated operation on the way back, and the root mean square of the gradient that reached it."""

    step: BackwardStep
    rms: float


def vanishing_and_exploding(program: Program) -> Iterator[Finding]:
    """At most one finding of each kind: the first pass in which a gradient shrinks or grows too far."""
    told: set[FindingKind] = set()
    for position, pass_ in enumerate(program.recording.passes):
        if not pass_.is_complete or len(pass_.steps) < FEWEST:
            continue
        if not _spans_enough(program, pass_):
            continue
        for way in _repeated(program, _way(program, pass_)):
            factor = way[-1].rms / way[0].rms
            kind: FindingKind = "vanishing" if factor < 1 else "exploding"
            if kind not in told and not VANISHED < factor < EXPLODED:
                told.add(kind)
                yield _finding(program, position, way, kind)


def _spans_enough(program: Program, pass_: Pass) -> bool:
    """Whether any of the pass's gradients is so much smaller or larger than another one."""
    sizes = [size for step in pass_.steps for value in step.grad_outputs if (size := program.sizes.rms(value)) > 0]
    return bool(sizes) and max(sizes) >= min(EXPLODED, 1 / VANISHED) * min(sizes)


def _way(program: Program, pass_: Pass) -> list[_Station]:
    """The longest way from the root: the steps, each of which sent something to the next, with the gradients' sizes."""
    nodes, rms = program.recording.nodes, program.sizes.rms
    length: dict[int, int] = {}
    before: dict[int, int] = {}
    for step in pass_.steps:  # senders come before receivers
        here = length.setdefault(step.node, 1) + 1
        for one in step.deliveries:
            if here > length.get(one.node, 0) and one.term is not None and nodes[one.node].variable is None:
                length[one.node], before[one.node] = here, step.node
    steps = {step.node: step for step in pass_.steps}
    found = []
    at: int | None = max(length, key=length.__getitem__, default=None)
    while at is not None:
        if at in steps:
            found.append(_Station(steps[at], max(map(rms, steps[at].grad_outputs), default=0.0)))
        at = before.get(at)
    return found[::-1]


def _repeated(program: Program, way: Sequence[_Station]) -> Iterator[list[_Station]]:
    """The stations of the expression, else of the operation, that occurs most often, if they change steadily."""
    by_place: dict[tuple[str, int], list[_Station]] = {}  # a place by its id, because hashing it takes long
    by_op: dict[str, list[_Station]] = {}
    for one in way:
        if math.isfinite(one.rms) and one.rms > 0:
            node = program.node(one.step.node)
            by_place.setdefault((node.op, id(node.place)), []).append(one)
            by_op.setdefault(node.op, []).append(one)
    several = [*sorted(by_place.values(), key=len, reverse=True), *sorted(by_op.values(), key=len, reverse=True)]
    stations = next((one for one in several if len(one) >= FEWEST), None)
    if stations is None:
        return
    changes = [math.log(b.rms / a.rms) for a, b in pairwise(stations)]
    total = sum(changes)
    largest = max(changes, key=lambda change: change if total > 0 else -change)
    if abs(largest) < 0.75 * abs(total) or len(stations) > 4 * FEWEST:  # not one single jump
        yield stations


def _finding(program: Program, position: int, way: list[_Station], kind: FindingKind) -> Finding:
    first, last = way[0], way[-1]
    op = program.node(first.step.node).op
    total = math.log(last.rms / first.rms)
    half = next(i for i, one in enumerate(way) if abs(math.log(one.rms / first.rms)) >= abs(total) / 2)
    places = {program.node(one.step.node).place for one in way}
    what = "time steps or layers" if len(places) == 1 else "layers"
    node = program.node(way[half].step.node)
    end = program.node(last.step.node)
    sizes = f"{format_number(first.rms, 2)} to {format_number(last.rms, 2)}"
    text = headline(
        f"The gradient {_VERBS[kind]}: {sizes} over {len(way)} × {op}, {at(end.place)}",
    )
    rate = math.exp(total / (len(way) - 1))
    lines = (
        f"Its root mean square goes from {sizes} over {len(way)} {what}, ×{format_number(rate, 2)} each on average.",
        f"Half of that is behind %{node.id} at {at(node.place)} (number {half + 1} of {len(way)}).",
    )
    remedy = (
        "Use weights of a larger scale (such as 1/√n), relu instead of a saturating function, normalisation, residual "
        "connections, or an LSTM or GRU."
        if kind == "vanishing"
        else "Use weights of a smaller scale (such as 1/√n), normalisation, or clip the gradients."
    )
    return Finding(
        kind, "warning", text, lines, remedy, end.place, position, last.step.index, end.id, program.tensor_of(end),
        spread=tuple(one.step.node for one in way),
    )  # fmt: skip
