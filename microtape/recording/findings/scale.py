"""Gradients that vanish or explode on their way back through layers or time steps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
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
        rms = program.sizes.rms
        sizes = {
            step.node: rms(outs[0]) if len(outs := step.grad_outputs) == 1 else max(map(rms, outs), default=0.0)
            for step in pass_.steps
        }
        largest, smallest = max(sizes.values()), min((size for size in sizes.values() if size > 0), default=0.0)
        if largest < min(EXPLODED, 1 / VANISHED) * smallest:
            continue
        way = _longest_way(program, pass_)
        stations = _repeated(program, way, sizes)
        kind = _kind(stations, sizes[way[-1].node]) if stations else None
        if kind is not None and kind not in told:
            told.add(kind)
            yield _finding(program, position, stations, kind)


def _kind(stations: Sequence[_Station], end: float) -> FindingKind | None:
    """What becomes of a gradient on its way, if it has also not come back to its size at the end of the way."""
    factors = [size / stations[0].rms for size in (stations[-1].rms, end)]
    if max(factors) <= VANISHED:
        return "vanishing"
    return "exploding" if min(factors) >= EXPLODED else None


def _longest_way(program: Program, pass_: Pass) -> list[BackwardStep]:
    """The longest way from the root: steps, each of which sent something to the next."""
    nodes = program.recording.nodes
    length: dict[int, int] = {}
    before: dict[int, int] = {}
    evaluated: set[int] = set()  # senders come before receivers; in a file that was tampered with, they may not
    for step in pass_.steps:
        here = length.setdefault(step.node, 1) + 1
        evaluated.add(step.node)
        for one in step.deliveries:
            if one.node in evaluated or one.term is None or nodes[one.node].variable is not None:
                continue
            if here > length.get(one.node, 0):
                length[one.node], before[one.node] = here, step.node
    steps = {step.node: step for step in pass_.steps}
    found = []
    at: int | None = max(length, key=length.__getitem__, default=None)
    while at is not None:
        if at in steps:
            found.append(steps[at])
        at = before.get(at)
    return found[::-1]


def _repeated(program: Program, way: Sequence[BackwardStep], sizes: Mapping[int, float]) -> list[_Station]:
    """The stations of the expression, else of the operation, that occurs most often, if they change steadily."""
    nodes = program.recording.nodes
    by_place: dict[tuple[str, int], list[BackwardStep]] = {}  # a place by its id, because hashing it takes long
    by_op: dict[str, list[BackwardStep]] = {}
    for step in way:
        node = nodes[step.node]
        by_place.setdefault((node.op, id(node.place)), []).append(step)
        by_op.setdefault(node.op, []).append(step)
    for several in (by_place, by_op):
        longest: list[BackwardStep] = max(several.values(), key=len, default=[])
        stations = [_Station(step, sizes[step.node]) for step in longest]
        stations = [one for one in stations if one.rms > 0 and math.isfinite(one.rms)]
        if len(stations) >= FEWEST:
            return stations if _is_steady(stations) else []
    return []


def _is_steady(stations: Sequence[_Station]) -> bool:
    """Whether more than a single jump makes the difference between the first and the last, with little way back.

    The longest way leads through side branches, such as the scores of attention, whose gradients are small, and back to
    the main one.
    """
    changes = [math.log(b.rms / a.rms) for a, b in pairwise(stations)]
    total = sum(changes)
    along = [one if total > 0 else -one for one in changes]
    back = -sum([one for one in along if one < 0])
    return back < abs(total) / 2 and (max(along) < 0.75 * abs(total) or len(stations) > 4 * FEWEST)


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
