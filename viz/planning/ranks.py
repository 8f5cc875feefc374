"""Assigns each box its rank (its row in the picture), so that Graphviz does not have to.

NB: on its own, `dot` needs minutes for an unrolled RNN of 300 nodes. With given ranks and without long arrows (see
`viz.scene.arrows`), it needs a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


def assign_ranks(order: Sequence[Key], uses: Mapping[Key, Iterable[Key]]) -> dict[Key, int]:
    """A rank for each key: 0 is on top, each key is below the keys it uses, and arrows are short.

    A key is placed as high as possible, unless moving it down to just above its users shortens more arrows than it
    lengthens: inputs move down, and so do values computed from inputs alone.

    `order` is the tape: the users of a key come after it. Only a damaged recording has uses that come before; they are
    ignored. Takes time linear in the number of uses.
    """
    position = {key: index for index, key in enumerate(order)}
    users = {key: [use for use in uses.get(key, ()) if position.get(use, -1) > position[key]] for key in order}
    used: dict[Key, list[Key]] = {key: [] for key in order}
    for key in order:
        for user in users[key]:
            used[user].append(key)

    ranks: dict[Key, int] = {}
    sinks: dict[Key, bool] = {}  # whether to place the key as low as possible
    for key in order:
        ranks[key] = max((ranks[one] + 1 for one in used[key]), default=0)
        left_behind = [one for one in used[key] if used[one] and not (sinks[one] and len(users[one]) == 1)]
        sinks[key] = len(users[key]) > len(left_behind)
    for key in reversed(order):
        if sinks[key]:
            ranks[key] = min(ranks[user] for user in users[key]) - 1
    top = min(ranks.values(), default=0)
    return {key: rank - top for key, rank in ranks.items()}
