"""Chooses how a picture fits into a place: its details and folds, its direction, and its columns.

The drafts of a picture come with the most contents first. Of each draft, a few promising arrangements are laid out,
those with few columns first, and tight ones last; the first one whose text can be read is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import get_args

from viz.basics.arrangement import Arrangement, Direction
from viz.basics.graph import VisualGraph
from viz.fitting.columns import columns_of, wrap
from viz.fitting.estimate import estimate
from viz.fitting.sizes import Size
from viz.output.labels import CODE_SIZE
from viz.output.measure import Measures

READABLE = 12.0  # pixels: the smallest text that can be read
LARGE_TEXT = 22.0  # pixels: a small picture is not enlarged beyond that
MOST_COLUMNS = 6
TRIED = 4  # arrangements of a draft that are laid out, and as many tight ones
PROMISING = 0.9 * READABLE  # an arrangement is not laid out if the estimate of its text is smaller


@dataclass(frozen=True, slots=True)
class Fitted:
    """A picture that fits into a size."""

    graph: VisualGraph
    arrangement: Arrangement
    text: float  # pixels: its smallest text
    size: Size  # that was available
    through: int  # texts through which an arrow runs
    draft: VisualGraph
    columns: int


@dataclass(frozen=True, slots=True)
class _Try:
    """A way of arranging a draft, and the size of text to expect."""

    draft: VisualGraph
    columns: int
    graph: VisualGraph
    direction: Direction
    size: Size
    tight: bool
    text: float


def choose(
    drafts: Iterable[VisualGraph], sizes: Sequence[Size], layout: Callable[[VisualGraph, Arrangement], Measures]
) -> Fitted:
    """The picture of the first draft that can be read in one of the sizes, else the one with the largest text."""
    best: Fitted | None = None
    seen: list[VisualGraph] = []
    others: list[_Try] = []
    for draft in drafts:
        if draft in seen:
            continue
        seen.append(draft)
        ways = list(_ways(draft, sizes))
        others += ways
        for tight in (False, True):
            promising = [way for way in ways if way.tight == tight and way.text >= PROMISING]
            for way in sorted(promising, key=lambda way: (way.columns, -way.text))[:TRIED]:
                best = _better(best, _laid_out(way, layout))
                if best.text >= READABLE and not best.through:
                    return best
        if best is not None and best.text >= READABLE:
            return best
    for way in sorted(others, key=lambda way: -way.text)[:TRIED]:
        best = _better(best, _laid_out(way, layout))
    assert best is not None  # there is a draft, and a picture in one column is a way of arranging it
    return best


def small_text(fitted: Fitted) -> str:
    """What to say about a picture whose text cannot be read; empty if it can."""
    if fitted.text >= READABLE:
        return ""
    return (
        f"the smallest text is {fitted.text:.1f} pixels high at {fitted.size}, and {READABLE:g} can be read: draw "
        "a part with around= or into=, or fit= a larger size"
    )


def _ways(draft: VisualGraph, sizes: Sequence[Size]) -> Iterator[_Try]:
    for columns in range(1, MOST_COLUMNS + 1):
        graph = wrap(draft, columns)
        parts = list(columns_of(graph))
        if len(parts) < columns:
            continue
        for direction, tight in product(get_args(Direction), (False, True)):
            width, height = estimate(graph, parts, direction, tight=tight)
            for size in sizes:
                scale = min(size.width / width, size.height / height)
                yield _Try(draft, columns, graph, direction, size, tight, CODE_SIZE * scale)


def _laid_out(way: _Try, layout: Callable[[VisualGraph, Arrangement], Measures]) -> Fitted:
    found = layout(way.graph, Arrangement(way.direction, smallest=CODE_SIZE, tight=way.tight))
    text = min(found.text_at(*way.size), LARGE_TEXT)
    scale = text / found.smallest  # pixels of a point
    arrangement = Arrangement(way.direction, found.width * scale, found.height * scale, CODE_SIZE, way.tight)
    return Fitted(way.graph, arrangement, text, way.size, found.through, way.draft, way.columns)


def _better(best: Fitted | None, other: Fitted) -> Fitted:
    """The first one that can be read, if no arrow runs through its text; else the one with the larger text."""

    def goodness(one: Fitted) -> tuple[bool, int, float]:
        readable = one.text >= READABLE
        return readable, -one.through if readable else 0, one.text

    return max([one for one in (best, other) if one is not None], key=goodness)
