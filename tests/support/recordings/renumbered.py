"""The same recording with other numbers for nodes and tensors, as if the program had been recorded in another order."""

from __future__ import annotations

import dataclasses
import random

from microtape.recording.model.model import NodeRecord, Recording
from microtape.recording.writing.renumbering import Renumbering


def renumbered(recording: Recording, seed: int) -> Recording:
    """Other numbers, chosen at random: each node still stands behind those that its edges lead to, and in its pass."""
    chance = random.Random(seed)
    order = [node.id for node in _shuffled(recording, chance)]
    tensors = list(range(len(recording.tensors)))
    chance.shuffle(tensors)
    nodes = [0] * len(order)
    for new, old in enumerate(order):
        nodes[old] = new
    to = Renumbering(nodes, tensors, range(len(recording.scopes)), 0, {}, range(len(order) + 1))
    new_tensors = [to.tensor(one) for one in recording.tensors]
    return dataclasses.replace(
        recording,
        nodes=tuple(to.node(recording.nodes[old]) for old in order),
        tensors=tuple(sorted(new_tensors, key=lambda one: one.id)),
        passes=tuple(map(to.one_pass, recording.passes)),
        borders=tuple(map(to.border, recording.borders)),
        updates=tuple(one._replace(tensor=tensors[one.tensor]) for one in recording.updates),
    )


def _shuffled(recording: Recording, chance: random.Random) -> list[NodeRecord]:
    """The nodes in another order of recording; those before and after each pass stay there."""
    found: list[NodeRecord] = []
    placed: set[int] = set()
    for end in [*(one.tape for one in recording.passes), len(recording.nodes)]:
        waiting = [node for node in recording.nodes[:end] if node.id not in placed]
        while waiting:
            free = [one for one in waiting if all(to is None or to in placed for to, _ in one.edges)]
            chosen = chance.choice(free)
            waiting.remove(chosen)
            placed.add(chosen.id)
            found.append(chosen)
    return found
