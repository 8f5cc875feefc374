"""Finds what is wrong in the recordings of several processes: what each rank has by itself, and where they part."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from microtape.recording.findings import findings
from microtape.recording.findings.finding import Finding
from microtape.recording.ranks.group import Ranks
from microtape.recording.ranks.leaves import is_averaged, leaves_at
from microtape.recording.ranks.only_some import bad_places, only_some
from microtape.recording.ranks.parting import partings

_SEVERITIES = ("error", "warning", "notice")
_LEFT_ALONE = re.compile(r"Connection (closed|reset) by peer")
"""How a reduction fails on the other ranks after one of them has failed."""


def rank_findings(ranks: Ranks) -> tuple[Finding, ...]:
    """Where the ranks part, and the findings of each, once for all ranks that have it.

    Errors come first, then warnings, then notices; of these, where the ranks part comes first. The numbers of a finding
    are those of the first of its `ranks`.
    """
    return in_order([*partings(ranks), *_own(ranks), *only_some(ranks)])


def in_order(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Errors first, then warnings, then notices; last of the errors, those of a rank that another one has left."""
    return tuple(sorted(found, key=lambda one: (_SEVERITIES.index(one.severity), _is_left_alone(one))))


def own_findings(ranks: Ranks, place: int, received: Mapping[int, int] | None = None) -> list[Finding]:
    """The findings of one rank by itself, without those that the other ranks explain.

    NaN and infinity may be what other ranks have sent it, and a leaf that it does not use may get their gradient.
    `received` is what `_received` says, for a caller that asks for many ranks.
    """
    recording, since = ranks.recordings[place], (_received(ranks) if received is None else received).get(place)

    def is_own(one: Finding) -> bool:
        if one.kind == "no gradient" and recording.error is None and one.tensor is not None:
            return not _is_averaged(ranks, recording.tensors[one.tensor].name)
        if since is None or one.pass_ is None or one.kind not in ("nan", "infinity"):
            return True
        return recording.passes[one.pass_].index < since

    return [one for one in findings(recording) if is_own(one)]


def _is_averaged(ranks: Ranks, name: str) -> bool:
    """Whether some rank has averaged the gradient of this leaf in some pass: then all have got it."""
    every = (leaves_at(ranks, number).get(name, {}) for number in ranks.shared)
    return any(map(is_averaged, every))


def _own(ranks: Ranks) -> Iterator[Finding]:
    """The findings of each rank by itself. Equal ones, perhaps with other numbers, are one finding."""
    known: dict[object, tuple[Finding, list[int]]] = {}
    received = _received(ranks)
    for place, recording in enumerate(ranks.recordings):
        for one in own_findings(ranks, place, received):
            number = recording.passes[one.pass_].index if one.pass_ is not None else None
            tensor = recording.tensors[one.tensor].name if one.tensor is not None else ""
            key = (one.kind, one.severity, one.place, number, tensor)
            known.setdefault(key, (one, []))[1].append(ranks.numbers[place])
    for one, numbers in known.values():
        yield one._replace(ranks=tuple(dict.fromkeys(numbers)))


def _received(ranks: Ranks) -> dict[int, int]:
    """Place -> the pass from which on its NaN or infinity may be what other ranks have sent it."""
    for number in ranks.shared:
        bad = bad_places(ranks, number, leaves_at(ranks, number))
        if bad:
            return {place: number for place in ranks.having(number) if place not in bad}
    return {}


def _is_left_alone(finding: Finding) -> bool:
    """Whether another rank was gone: what it has failed of says more."""
    return finding.kind == "failed" and any(_LEFT_ALONE.search(line) for line in finding.explanation)
