"""What only some ranks have in a pass: NaN, a gradient for a parameter, operations, gradients of another size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from microtape.recording.comparing.measuring import largest
from microtape.recording.findings.finding import Finding
from microtape.recording.findings.wording import at, count, headline, join
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import Pass, Place
from microtape.recording.model.source import expression
from microtape.recording.model.summary import is_finite
from microtape.recording.ranks.group import Ranks
from microtape.recording.ranks.leaves import Key, Leaves, leaves_at
from microtape.recording.ranks.parts import hold_parts
from microtape.recording.ranks.words import rank_text, verb

_APART = 100.0  # times as large as those of the other ranks: local gradients that the data alone rarely explain


def only_some(ranks: Ranks) -> Iterator[Finding]:
    """At most one finding of each sort, about the first pass that shows it."""
    detectors = [_not_finite] if hold_parts(ranks) else [_not_finite, _without_gradient, _other_sizes]
    for number in ranks.shared:
        leaves = leaves_at(ranks, number)
        for detector in list(detectors):
            for finding in detector(ranks, number, leaves):
                detectors.remove(detector)
                yield finding


def bad_places(ranks: Ranks, number: int, leaves: Leaves) -> list[int]:
    """The places whose own gradients in this pass, or whose roots, are not finite."""
    bad = {place for leaf in leaves.values() for place, one in leaf.items() if not is_finite(one.local)}
    for place in ranks.having(number):
        recording = ranks.recordings[place]
        roots = recording.passes[ranks.passes[place][number]].root_tensors
        if not all(is_finite(recording.value(ref)) for ref in roots):
            bad.add(place)
    return sorted(bad)


def _not_finite(ranks: Ranks, number: int, leaves: Leaves) -> Iterator[Finding]:
    bad, every = bad_places(ranks, number, leaves), ranks.having(number)
    if not bad or bad == every:
        return
    place = bad[0]
    names = [key for key, leaf in leaves.items() if place in leaf and not is_finite(leaf[place].local)]
    carried = [
        key for key in names if any(not is_finite(one.after) for at, one in leaves[key].items() if at not in bad)
    ]
    lines = [f"Its gradients of {_named(ranks, names)} are not finite, those of the other ranks are."] if names else []
    if carried:
        lines.append("The average carries it to every rank.")
    text = rank_text(_numbers(ranks, bad))
    yield Finding(
        "one rank", "notice", headline(f"only {text} {verb(bad, 'has', 'have')} NaN or infinity in pass {number + 1}"),
        tuple(lines), f"Look at the data of {text} in this pass.", _backward(ranks, place, number),
        ranks.passes[place][number], None, None, None, ranks=_numbers(ranks, bad),
    )  # fmt: skip


def _without_gradient(ranks: Ranks, number: int, leaves: Leaves) -> Iterator[Finding]:
    """Parameters that get a gradient on some ranks alone; without one, operations that only some ranks have."""
    whole = [place for place in ranks.having(number) if _pass(ranks, place, number).is_complete]
    lacking: dict[tuple[int, ...], list[str]] = {}
    for key, leaf in leaves.items():
        having = [place for place, one in leaf.items() if one.local is not None]
        without = tuple([place for place in whole if place not in having])
        if having and without and isinstance(key, str):
            lacking.setdefault(without, []).append(key)
    other = _other_operations(ranks, number)
    if lacking:
        without, names = max(lacking.items(), key=lambda one: len(one[1]))
        program = ranks.programs[without[0]]
        begin = f"{rank_text(_numbers(ranks, without))} {verb(without, 'has', 'have')}"
        yield Finding(
            "one rank", "notice",
            headline(f"{begin} no gradient for {join(names, 3)} in pass {number + 1}",
                     f"{begin} no gradient for {count(len(names), 'parameter')} in pass {number + 1}"),
            (f"This concerns {join(names, 12)}. Other ranks have one.", *([other.sentence] if other else [])),
            "If that is meant, DistributedDataParallel needs find_unused_parameters=True, to average zeros for them.",
            (other.line if other is not None else None) or program.made_at(names[0]),
            ranks.passes[without[0]][number], None, None,
            next((one.id for one in program.leaves if one.name == names[0]), None),
            ranks=_numbers(ranks, without),
        )  # fmt: skip
    elif other is not None:
        rank = ranks.numbers[other.place]
        yield Finding(
            "one rank", "notice", headline(f"the graph of pass {number + 1} is another one on rank {rank}"),
            (other.sentence,), "If that is meant, such as for data of other lengths, nothing.", other.line,
            ranks.passes[other.place][number], None, other.node, None, ranks=(rank,),
        )  # fmt: skip


class _Other(NamedTuple):
    """A rank whose graph of a pass differs from that of the lowest rank."""

    place: int
    sentence: str
    line: Place | None
    node: int | None  # of this rank, if it has one more


def _other_operations(ranks: Ranks, number: int) -> _Other | None:
    """The first such rank; None if all have the same graph."""
    first, *others = ranks.having(number)
    for place in others:
        nodes = {one: _unmatched(ranks, number, one, other) for one, other in ((first, place), (place, first))}
        sentences = [
            f"Rank {ranks.numbers[one]} has {_operations(ranks, one, only)}, rank {ranks.numbers[other]} does not."
            for one, other in ((first, place), (place, first))
            if (only := nodes[one])
        ]
        if sentences:
            shown = place if nodes[place] else first
            line = next((one.place for one in map(ranks.programs[shown].node, nodes[shown]) if one.place), None)
            return _Other(place, " ".join(sentences), line, next(iter(nodes[place]), None))
    return None


def _unmatched(ranks: Ranks, number: int, place: int, other: int) -> list[int]:
    """The operations of a pass that have no counterpart at another place."""
    nodes = ranks.recordings[place].nodes
    return [
        node
        for node in _pass(ranks, place, number).nodes
        if nodes[node].variable is None and ranks.counterpart(node, place, other) is None
    ]


def _other_sizes(ranks: Ranks, number: int, leaves: Leaves) -> Iterator[Finding]:
    """A rank whose own gradients are far larger or smaller than those of all others."""
    sizes: dict[int, float] = {}
    for leaf in leaves.values():
        for place, one in leaf.items():
            if one.local is not None and is_finite(one.local):
                sizes[place] = max(sizes.get(place, 0.0), largest(one.local))
    if len(sizes) < 2 or not any(sizes.values()):
        return
    order = sorted(sizes, key=lambda place: sizes[place])
    for place, nearest, times in (
        (order[-1], order[-2], "larger"),
        (order[0], order[1], "smaller"),
    ):
        small, large = sorted((sizes[place], sizes[nearest]))
        if large > _APART * small:
            rank = ranks.numbers[place]
            factor = f"{format_number(large / small, 2)} times {times}" if small else "zero"
            than = f" than on {rank_text([ranks.numbers[nearest]])}" if small else ""
            yield Finding(
                "one rank", "notice", headline(f"the gradients of rank {rank} in pass {number + 1} are {factor}{than}"),
                (f"The largest number in them is {format_number(sizes[place])}; that of rank {ranks.numbers[nearest]} "
                 f"is {format_number(sizes[nearest])}.",),
                f"Look at the data of rank {rank} in this pass.", _backward(ranks, place, number),
                ranks.passes[place][number], ranks=(rank,),
            )  # fmt: skip
            return


# Words


def _operations(ranks: Ranks, place: int, nodes: Sequence[int]) -> str:
    """`self.extra(h) at train.py:21 and 2 more`."""
    recording = ranks.recordings[place]
    found: dict[str, None] = {}
    for node in map(recording.nodes.__getitem__, nodes):
        text = expression(recording, node.place) if node.place is not None else ""
        found[f"`{text}` at {at(node.place)}" if text else node.name] = None
    return join(list(found), 3)


def _named(ranks: Ranks, keys: Sequence[Key]) -> str:
    return join([key if isinstance(key, str) else ranks.recordings[0].label(key) for key in keys])


def _numbers(ranks: Ranks, places: Sequence[int]) -> tuple[int, ...]:
    return tuple([ranks.numbers[place] for place in places])


def _pass(ranks: Ranks, place: int, number: int) -> Pass:
    return ranks.recordings[place].passes[ranks.passes[place][number]]


def _backward(ranks: Ranks, place: int, number: int) -> Place | None:
    return _pass(ranks, place, number).place
