"""Layers for the boxes, worked out here so that Graphviz does not have to.

NB: left to itself, `dot` needs minutes for an unrolled RNN of 300 nodes. With ranks given and long arrows cut (see
`viz.build`), a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


def layers(order: Sequence[Key], uses: Mapping[Key, Iterable[Key]]) -> dict[Key, int]:
    """A rank for each key, 0 on top, below everything it uses and with short arrows.

    Each stands as high as it can, except where it should rather stand right above what uses it: an input does, and so
    does what was computed from inputs alone, or in general what would leave fewer arrows behind than it shortens.

    `order` is the tape: what uses a key stands after it. A use that stands before it, which only a damaged recording
    has, is ignored. Linear in the number of uses.
    """
    position = {key: index for index, key in enumerate(order)}
    users = {key: [use for use in uses.get(key, ()) if position.get(use, -1) > position[key]] for key in order}
    used: dict[Key, list[Key]] = {key: [] for key in order}
    for key in order:
        for user in users[key]:
            used[user].append(key)

    ranks: dict[Key, int] = {}
    sinks: dict[Key, bool] = {}  # whether it should stand as low as it can
    for key in order:
        ranks[key] = max((ranks[one] + 1 for one in used[key]), default=0)
        left_behind = [one for one in used[key] if used[one] and not (sinks[one] and len(users[one]) == 1)]
        sinks[key] = len(users[key]) > len(left_behind)
    for key in reversed(order):
        if sinks[key]:
            ranks[key] = min(ranks[user] for user in users[key]) - 1
    top = min(ranks.values(), default=0)
    return {key: rank - top for key, rank in ranks.items()}
