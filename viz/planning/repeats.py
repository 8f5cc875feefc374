"""Finds repetitions in a sequence of symbols, and repetitions inside repetitions.

`a b a b a b c` becomes `(a b) ×3  c`. The shortest repetitions are folded first. A folded repetition then counts as one
symbol, whatever its number of copies. So `a a a b a a b` becomes `(a ×n  b) ×2`: the inner loop may run a different
number of times in each repetition of the outer loop.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

_Ids: TypeAlias = npt.NDArray[np.int64]

ALWAYS_TRIED = 64  # periods up to this one are always tried, longer ones only if some symbol recurs at that distance


@dataclass(frozen=True, eq=False, slots=True)
class Repeat:
    """The contents of each repetition: positions in the sequence, and inner repetitions."""

    times: tuple[tuple[Position, ...], ...]


Position: TypeAlias = int | Repeat


def find_repeats(symbols: Sequence[Hashable], order: Sequence[int], copies: int) -> list[Position]:
    """The sequence, with whatever repeats at least `copies` times in a row folded.

    Args:
        symbols: equal for equal operations.
        order: a number for each position, such as its line in the program. If a repetition could be cut in several
            ways (`b a b a b a`), each copy begins at the smallest number.
        copies: at least 2.

    Takes time proportional to the length times the number of different distances between equal symbols.
    """
    known: dict[Hashable, int] = {}
    if len(symbols) < copies or len(set(symbols)) == len(symbols):
        return list(range(len(symbols)))
    ids = np.array([known.setdefault(symbol, len(known)) for symbol in symbols], np.int64)
    items: list[Position] = list(range(len(symbols)))
    firsts = list(order)
    while (found := _shortest(ids, copies)) is not None:
        period, runs = found
        new_items: list[Position] = []
        new_firsts: list[int] = []
        new_ids: list[int] = []
        done = 0
        for start, stop in runs:
            begin = _best_begin(max(start, done), stop, period, firsts)
            count = (stop - begin) // period
            if count < copies:
                continue
            end = begin + count * period
            body = tuple(ids[begin : begin + period].tolist())
            new_items += [*items[done:begin], Repeat(tuple(tuple(items[at : at + period])
                                                           for at in range(begin, end, period)))]  # fmt: skip
            new_firsts += [*firsts[done:begin], min(firsts[begin : begin + period])]
            new_ids += [*ids[done:begin].tolist(), known.setdefault(("repeat", body), len(known))]
            done = end
        items, firsts = [*new_items, *items[done:]], [*new_firsts, *firsts[done:]]
        ids = np.array([*new_ids, *ids[done:].tolist()], np.int64)
    return items


def _shortest(ids: _Ids, copies: int) -> tuple[int, list[tuple[int, int]]] | None:
    """The shortest period that repeats often enough, and (start, stop) of each stretch with this period."""
    for period in _periods(ids, copies):
        same = ids[:-period] == ids[period:]
        edges = np.flatnonzero(np.diff(np.concatenate(([False], same, [False])).astype(np.int8)))
        starts, stops = edges[::2], edges[1::2]
        long = stops - starts >= period * (copies - 1)
        if long.any():
            return period, [(int(a), int(b) + period) for a, b in zip(starts[long], stops[long], strict=True)]
    return None


def _periods(ids: _Ids, copies: int) -> list[int]:
    by_symbol = np.argsort(ids, kind="stable")
    gaps = np.diff(by_symbol)[np.diff(ids[by_symbol]) == 0]
    longest = ids.size // copies
    tried = np.union1d(np.arange(1, ALWAYS_TRIED + 1), gaps)
    return [int(period) for period in tried if 1 <= period <= longest]


def _best_begin(start: int, stop: int, period: int, firsts: Sequence[int]) -> int:
    """The position at which the first copy begins: a start up to `spare` positions later loses no copy."""
    spare = max(stop - start, 0) % period
    return min(range(start, start + spare + 1), key=lambda at: (firsts[at], at))
