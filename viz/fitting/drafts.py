"""What a picture that has to fit may show: the drafts from which `viz.fitting.choose` takes the first that fits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TypeVar

from viz.basics.options import AMOUNTS

Draft = TypeVar("Draft")

FEW, FEWER, NONE = 12, 10, 0  # boxes up to which folds open by themselves
DRAFTS: Sequence[tuple[Collection[str], int | None]] = (
    (AMOUNTS["debug"], None),
    (AMOUNTS["lecture"], None),
    (AMOUNTS["lecture"], FEW),
    (AMOUNTS["brief"], None),
    (AMOUNTS["brief"], FEWER),
    (AMOUNTS["lecture"], NONE),
    (AMOUNTS["brief"], NONE),
    ((), None),
    ((), NONE),
)
"""Details, and how many boxes a folded picture may have; None: folded as it is without a place to fit into."""


def drafts(build: Callable[..., Draft], show: Collection[str] | None, *, may_fold: bool) -> Iterator[Draft]:
    """Pictures with less and less in them. `build` takes details, whether to fold, and how many boxes are few.

    `show` keeps what the user asked for, and so does `may_fold`.
    """
    for details, few in DRAFTS if show is None else [(show, few) for few in (None, FEW, NONE)]:
        if few is None:
            yield build(details)
        elif may_fold:
            yield build(details, True, few)
