"""Gradients that vanish or explode on their way back through layers or time steps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from microtape.recording.findings.finding import Finding, FindingKind
from microtape.recording.findings.program import Program, at, headline
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import BackwardStep, Pass

FEWEST = 4  # layers or time steps
VANISHED, EXPLODED = 1e-5, 1e5  # the factor from the first to the last


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
        for way in _repeated(program, _way(program, pass_)):
            factor = way[-1].rms / way[0].rms
            kind: FindingKind = "vanishing" if factor < 1 else "exploding"
            if kind not in told and not VANISHED < factor < EXPLODED:
                told.add(kind)
                yield _finding(program, position, way, kind)


def _way(program: Program, pass_: Pass) -> list[_Station]:
    """The longest way from the root: the steps, each of which sent something to the next, with the gradients' sizes."""
    length: dict[int, int] = {}
    before: dict[int, int] = {}
    steps = {step.node: step for step in pass_.steps}
    for step in pass_.steps:  # senders come before receivers
        here = length.setdefault(step.node, 1)
        for one in step.deliveries:
            if one.term is not None and program.node(one.node).variable is None and here + 1 > length.get(one.node, 0):
                length[one.node], before[one.node] = here + 1, step.node
    if not length:
        return []
    node: int | None = max(length, key=length.__getitem__)
    found = []
    while node is not None:
        step = steps.get(node)
        if step is not None:
            sizes = [size.rms for value in step.grad_outputs if (size := program.sizes(value)) is not None]
            if sizes:
                found.append(_Station(step, max(sizes)))
        node = before.get(node)
    return found[::-1]


def _repeated(program: Program, way: Sequence[_Station]) -> Iterator[list[_Station]]:
    """The stations of the operation that occurs most often on the way, if its gradients steadily shrink or grow."""
    groups: dict[str, list[_Station]] = {}
    for one in way:
        if math.isfinite(one.rms) and one.rms > 0:
            groups.setdefault(program.node(one.step.node).op, []).append(one)
    if not groups:
        return
    stations = max(groups.values(), key=len)
    if len(stations) < FEWEST:
        return
    changes = [math.log(b.rms / a.rms) for a, b in zip(stations, stations[1:], strict=False)]
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
        f"The gradient {'vanishes' if kind == 'vanishing' else 'explodes'}: {sizes} over {len(way)} × {op}, {at(end.place)}",
    )
    rate = math.exp(total / (len(way) - 1))
    lines = (
        f"Its root mean square goes from {sizes} over {len(way)} {what} ({op}): on average ×{format_number(rate, 2)} each.",
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
