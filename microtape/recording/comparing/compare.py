"""Compares two recordings, in the order in which things happened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np

from microtape.recording.comparing.backward import BackwardComparison
from microtape.recording.comparing.courses import compare_courses
from microtape.recording.comparing.differences import Comparison, Pair
from microtape.recording.comparing.fingerprints import ONLY_HERE, Fingerprints
from microtape.recording.comparing.forward import ForwardComparison
from microtape.recording.comparing.ledger import Ledger
from microtape.recording.comparing.matching import Matching
from microtape.recording.comparing.rounding import Tolerance
from microtape.recording.model.model import Recording


def compare(
    a: Recording,
    b: Recording,
    rtol: float | None = None,
    atol: float | None = None,
    passes: tuple[Collection[int], Collection[int]] | None = None,
) -> Comparison:
    """Compare two recordings of the same computation.

    See Note [How nodes are matched] in `matching`, and Note [How rounding is allowed for] in `rounding`.

    Values agree if they are nowhere further apart than `atol` + `rtol` · the largest magnitude in either array.

    Args:
        a, b: the recordings, whichever engine they are of.
        rtol: the relative tolerance; None takes that of the coarser dtype, which grows with the number of operations. 0
            without `atol` asks for equal bits.
        atol: the absolute tolerance; None is 0.
        passes: which passes of each to compare, as positions in `Recording.passes`; None is all.
    """
    chosen = (range(len(a.passes)), range(len(b.passes))) if passes is None else passes
    pairs = _paired(a, b, *map(sorted, chosen))
    matching = Matching(a, b, pairs)
    ledger = Ledger(a, b, matching, Tolerance(rtol, atol))
    forward = ForwardComparison(ledger)
    with np.errstate(all="ignore"):
        for number, pair in enumerate(pairs):
            forward.segment(number, pair)
            BackwardComparison(ledger, forward, pair).run()
        forward.segment("after", None)
        ledger.program_errors()
    ours = _unmatched(matching.a, matching.to_b, [i for i, _ in pairs])
    theirs = _unmatched(matching.b, matching.to_a, [j for _, j in pairs])
    return Comparison(
        a=a,
        b=b,
        tolerance=ledger.tolerance,
        matching=matching,
        passes=tuple(pairs),
        only=(_rest(chosen[0], [i for i, _ in pairs]), _rest(chosen[1], [j for _, j in pairs])),
        differences=tuple(ledger.differences),
        orders=tuple(ledger.orders),
        unmatched=(ours[0], theirs[0]),
        unused=(ours[1], theirs[1]),
        dtypes=Counter(ledger.dtypes),
        counts=ledger.counts,
        worst=ledger.worst,
        courses=compare_courses(a, b, ledger.tolerance),
    )


def _paired(a: Recording, b: Recording, ours: Sequence[int], theirs: Sequence[int]) -> list[Pair]:
    """The passes with the same number in their programs; if there are none, passes in the same order."""
    numbers = {b.passes[j].index: j for j in theirs}
    same = [(i, numbers[a.passes[i].index]) for i in ours if a.passes[i].index in numbers]
    return same or list(zip(ours, theirs, strict=False))


def _rest(chosen: Collection[int], compared: Collection[int]) -> tuple[int, ...]:
    return tuple(sorted(set(chosen) - set(compared)))


def _unmatched(
    side: Fingerprints, known: Collection[int], passes: Collection[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The nodes without a counterpart in what is compared: those that a pass evaluates, and the others."""
    recording = side.recording
    here = {node for at in passes for node in recording.passes[at].nodes}
    anywhere = {node for one in recording.passes for node in one.nodes}
    if not recording.passes:
        anywhere = set(range(len(recording.nodes)))
    found = [
        node
        for node, segment in dict(zip(side.own, side.segments, strict=True)).items()
        if node not in known and (segment != ONLY_HERE or node in here)
    ]
    return tuple(node for node in found if node in anywhere), tuple(node for node in found if node not in anywhere)
