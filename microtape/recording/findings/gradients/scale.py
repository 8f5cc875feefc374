"""Gradients that vanish or explode on their way back through layers or time steps."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np

from microtape.recording.findings.finding import Finding, FindingKind
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import NodeRecord, Pass
from microtape.recording.tables.fields import are_there, each, field, inside, integers, numbered, picked

FEWEST = 4  # layers or time steps
VANISHED, EXPLODED = 1e-5, 1e4  # the factor from the first to the last


_VERBS = {"vanishing": "vanishes", "exploding": "explodes"}


class _Station(NamedTuple):
    """A repeated operation on the way back, and the root mean square of the gradient that reached it."""

    step: int
    rms: float


def vanishing_and_exploding(program: Program) -> Iterator[Finding]:
    """At most one finding of each kind: the first pass in which a gradient shrinks or grows too far."""
    told: set[FindingKind] = set()
    for position, pass_ in enumerate(program.recording.passes):
        if not pass_.is_complete or len(pass_.steps) < FEWEST:
            continue
        sizes = _sizes(program, pass_)
        largest, smallest = max(sizes), min((size for size in sizes if size > 0), default=0.0)
        if largest < min(EXPLODED, 1 / VANISHED) * smallest:
            continue
        way = _longest_way(program, pass_)
        stations = _repeated(program, pass_, way, sizes)
        kind = _kind(stations, sizes[way[-1]]) if stations else None
        if kind == "exploding" and _growth(program, pass_, way, stations, sizes) < EXPLODED:
            continue
        if kind is not None and kind not in told:
            told.add(kind)
            yield _finding(program, position, stations, kind)


def _kind(stations: Sequence[_Station], end: float) -> FindingKind | None:
    """What becomes of a gradient on its way, if it has also not come back to its size at the end of the way."""
    factors = [size / stations[0].rms for size in (stations[-1].rms, end)]
    if max(factors) <= VANISHED:
        return "vanishing"
    return "exploding" if min(factors) >= EXPLODED else None


def _growth(
    program: Program, pass_: Pass, way: Sequence[int], stations: Sequence[_Station], sizes: Sequence[float]
) -> float:
    """By which factor the steps on the way enlarge what they receive, between the first and the last station.

    The gradient may be larger only because the way is that of a branch without much to learn, and joins the main one.
    """
    growth = 1.0
    there = way[way.index(stations[0].step) : way.index(stations[-1].step) + 1]
    for position, (step, following) in zip(there, pairwise(picked(pass_.steps, there)), strict=False):
        sent = [program.sizes.rms(one.term) for one in step.deliveries if one.node == following.node]
        growth *= max(sent, default=0.0) / (sizes[position] or 1.0)
    return growth


def _sizes(program: Program, pass_: Pass) -> list[float]:
    """The root mean square of the gradient that reached each step: of several, the largest."""
    counts, gradients = inside(pass_.steps, "grad_outputs")
    rms = list(map(program.sizes.rms, gradients))
    if (counts == 1).all():
        return rms
    ends = accumulate(counts.tolist(), initial=0)
    return [max(rms[start:end], default=0.0) for start, end in pairwise(ends)]


def _longest_way(program: Program, pass_: Pass) -> list[int]:
    """The longest way from the root: steps, each of which sent something to the next."""
    counts, deliveries = inside(pass_.steps, "deliveries")
    receiver, nodes = integers(deliveries, "node"), integers(pass_.steps, "node")
    step = np.repeat(np.arange(len(nodes)), counts)
    step_of = np.full(len(program.recording.nodes), len(nodes))
    step_of[nodes[::-1]] = np.arange(len(nodes))[::-1]
    # Senders come before receivers; in a file that was tampered with, they may not.
    leads = are_there(field(deliveries, "term")) & ~program.is_leaf[receiver] & (step_of[receiver] > step)
    if not leads.any():
        return []
    sender, receiver = nodes[step[leads]], receiver[leads]
    length = array("q", [1]) * len(program.recording.nodes)
    before = array("q", [-1]) * len(program.recording.nodes)
    for one, other in zip(each(sender), each(receiver), strict=True):
        far = length[one] + 1
        if far > length[other]:
            length[other], before[other] = far, one
    way = [int(receiver[np.argmax(np.array(length)[receiver])])]  # of several, the first that was reached
    while before[way[-1]] >= 0:
        way.append(before[way[-1]])
    steps = step_of[way[::-1]]
    found: list[int] = steps[steps < len(nodes)].tolist()
    return found


def _repeated(program: Program, pass_: Pass, way: Sequence[int], sizes: Sequence[float]) -> list[_Station]:
    """The stations of the expression, else of the operation, that occurs most often, if they change steadily."""
    nodes = _nodes(program, pass_, way)
    ops = list(field(nodes, "op"))
    expressions = list(zip(ops, numbered(field(nodes, "place")), strict=True))
    for kinds in (expressions, ops):
        count = Counter[object](kinds)
        most = max(count, key=count.__getitem__, default=None)
        often = [step for step, kind in zip(way, kinds, strict=True) if kind == most]
        stations = [_Station(step, size) for step in often if (size := sizes[step]) > 0 and math.isfinite(size)]
        if len(stations) >= FEWEST:
            return stations if _is_steady(stations) else []
    return []


def _nodes(program: Program, pass_: Pass, steps: Sequence[int]) -> Sequence[NodeRecord]:
    """The nodes of these steps."""
    return picked(program.recording.nodes, integers(picked(pass_.steps, steps), "node").tolist())


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
    nodes = _nodes(program, program.recording.passes[position], [one.step for one in way])
    op = nodes[0].op
    total = math.log(last.rms / first.rms)
    half = next(i for i, one in enumerate(way) if abs(math.log(one.rms / first.rms)) >= abs(total) / 2)
    places = set(field(nodes, "place"))
    what = "time steps or layers" if len(places) == 1 else "layers"
    node, end = nodes[half], nodes[-1]
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
        kind, "warning", text, lines, remedy, end.place, position, last.step, end.id, program.tensor_of(end),
        spread=tuple(field(nodes, "id")),
    )  # fmt: skip
