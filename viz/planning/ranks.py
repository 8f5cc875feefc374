"""Assigns each box its rank (its row in the picture), so that Graphviz does not have to.

NB: on its own, `dot` needs minutes for an unrolled RNN of 300 nodes. With given ranks and without long arrows (see
`viz.scene.arrows`), it needs a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from viz.basics.graph import Cluster

Key = TypeVar("Key", bound=Hashable)


def assign_ranks(
    order: Sequence[Key], uses: Mapping[Key, Iterable[Key]], above: Mapping[Key, Iterable[Key]] | None = None
) -> dict[Key, int]:
    """A rank for each key: 0 is on top, each key is below the keys it uses, and arrows are short.

    A key is placed as high as possible, unless moving it down to just above its users shortens more arrows than it
    lengthens: inputs move down, and so do values computed from inputs alone.

    `order` is the tape: the users of a key come after it. Only a damaged recording has uses that come before; they are
    ignored. `above` gives further keys that have to be above a key, and earlier on the tape, without an arrow to it.
    Takes time linear in the number of uses.
    """
    position = {key: index for index, key in enumerate(order)}
    higher = {key: [one for one in (above or {}).get(key, ()) if position[one] < position[key]] for key in order}
    lower: dict[Key, list[Key]] = {key: [] for key in order}
    for key in order:
        for one in higher[key]:
            lower[one].append(key)
    users = {key: [use for use in uses.get(key, ()) if position.get(use, -1) > position[key]] for key in order}
    used: dict[Key, list[Key]] = {key: [] for key in order}
    for key in order:
        for user in users[key]:
            used[user].append(key)

    ranks: dict[Key, int] = {}
    sinks: dict[Key, bool] = {}  # whether to place the key as low as possible
    for key in order:
        ranks[key] = max((ranks[one] + 1 for one in (*used[key], *higher[key])), default=0)
        left_behind = [one for one in used[key] if used[one] and not (sinks[one] and len(users[one]) == 1)]
        sinks[key] = len(users[key]) > len(left_behind)
    for key in reversed(order):
        if sinks[key]:
            ranks[key] = min(ranks[one] for one in (*users[key], *lower[key])) - 1
    top = min(ranks.values(), default=0)
    return {key: rank - top for key, rank in ranks.items()}


def above_clusters(
    order: Iterable[Key], uses: Mapping[Key, Iterable[Key]], clusters: Mapping[Key, tuple[Cluster, ...]]
) -> dict[Key, list[Key]]:
    """For each input inside of a frame, the results from outside that the frame uses: the keys to be above it.

    Graphviz puts what shares a rank with a frame beside the whole frame. If an input of the frame were beside the box
    that leads into it, a chain of frames would become a staircase.
    """
    has_inputs = {head for key in order for head in uses.get(key, ())}
    inputs: dict[Cluster, list[Key]] = {}
    for key in order:
        if key not in has_inputs:
            for cluster in clusters.get(key, ()):
                inputs.setdefault(cluster, []).append(key)
    above: dict[Key, list[Key]] = {}
    for tail in order:
        if tail in has_inputs:
            around = clusters.get(tail, ())
            entered = {cluster: None for head in uses.get(tail, ()) for cluster in clusters.get(head, ())}
            for cluster in entered:
                if cluster not in around:
                    for one in inputs.get(cluster, ()):
                        above.setdefault(one, []).append(tail)
    return above
