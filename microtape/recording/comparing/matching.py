"""Which node of one recording is which of another.

Note [How nodes are matched]
  Leaves match by the user's names. Operations match if all that they were computed from and all that was computed from
  them looks alike: names of nodes, edges by their position, names of leaves. Neither ids nor lines nor the order of
  recording count, so a program matches its twin for another engine.
  Where the graphs differ, what lies below the change still looks alike from below, and what lies above it from above.
  From matched nodes the matching spreads along edges. What remains, such as a network of which each layer has got
  another operation, is aligned in the order of the tape, by the text of the expressions, then by shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from microtape.recording.comparing.alignment import aligned
from microtape.recording.comparing.fingerprints import ONLY_HERE, Fingerprints, Label
from microtape.recording.model.model import NodeRecord, Recording


class Matching:
    """Pairs of nodes. A leaf that has several AccumulateGrad nodes is matched by the first of them."""

    def __init__(self, a: Recording, b: Recording, passes: Collection[tuple[int, int]] | None = None) -> None:
        """Match the nodes of two recordings, of which these passes (positions in both) belong together."""
        pairs = list(zip(range(len(a.passes)), range(len(b.passes)), strict=False)) if passes is None else list(passes)
        self.a = Fingerprints(a, {i: pair for pair, (i, _) in enumerate(pairs)})
        self.b = Fingerprints(b, {j: pair for pair, (_, j) in enumerate(pairs)})
        self.to_b: dict[int, int] = {}
        self.to_a: dict[int, int] = {}
        self._match_leaves()
        self._match_alike()
        self._spread(self._roots(pairs))
        self._spread(self.to_b.items())
        for label in (Fingerprints.text, Fingerprints.shape):
            if self._match_aligned(label):
                self._spread(self.to_b.items())

    def of_a(self, node: int) -> int | None:
        """The node of b that matches a node of a."""
        return self.to_b.get(self.a.own[node])

    def of_b(self, node: int) -> int | None:
        """The node of a that matches a node of b."""
        return self.to_a.get(self.b.own[node])

    @cached_property
    def _most(self) -> int:
        """How many pairs there can be."""
        return min(len(set(self.a.own)), len(set(self.b.own)))

    @property
    def _is_done(self) -> bool:
        return len(self.to_b) == self._most

    def _pair(self, one: int, other: int) -> bool:
        """Match two nodes, unless one of them is matched already."""
        if one in self.to_b or other in self.to_a:
            return False
        self.to_b[one], self.to_a[other] = other, one
        return True

    def _match_leaves(self) -> None:
        for names in (_best_name, _names):
            ours, theirs = (_by_name(side, names) for side in (self.a, self.b))
            for name, nodes in ours.items():
                others = theirs.get(name, ())
                if len(nodes) == len(others) == 1:
                    self._pair(nodes[0], others[0])

    def _match_alike(self) -> None:
        """Match nodes that look alike from below and above, then from below, then from above."""

        def exactly(side: Fingerprints) -> Iterable[Label]:
            return zip(side.segments, side.below_with_constants, side.above, strict=True)

        def both(side: Fingerprints) -> Iterable[Label]:
            return zip(side.segments, side.below, side.above, strict=True)

        def anywhere(side: Fingerprints) -> Iterable[Label]:
            return zip(side.below, side.above, strict=True)

        def from_below(side: Fingerprints) -> Iterable[Label]:
            return zip(side.segments, side.below, strict=True)

        def from_above(side: Fingerprints) -> Iterable[Label | None]:
            labels = zip(side.segments, side.above, map(side.local, side.recording.nodes), strict=True)
            return (label if side.is_evaluated(node) else None for node, label in enumerate(labels))

        for labels, several in (
            (exactly, True),
            (both, True),
            (anywhere, True),
            (from_below, False),
            (from_above, False),
        ):
            if self._is_done:
                return
            ours, theirs = _grouped(self.a, labels, self.to_b), _grouped(self.b, labels, self.to_a)
            for label, nodes in ours.items():
                others = theirs.get(label, ())
                if len(nodes) == len(others) and (several or len(nodes) == 1):  # several: they are interchangeable
                    for one, other in zip(nodes, others, strict=True):
                        self._pair(one, other)

    def _roots(self, passes: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """The roots of passes with equally many that are of the same kind."""
        for i, j in passes:
            ours, theirs = (side.recording.passes[at].roots for side, at in ((self.a, i), (self.b, j)))
            if len(ours) == len(theirs):
                for (one, _), (other, _) in zip(ours, theirs, strict=True):
                    if one is not None and other is not None and self._alike(one, other):
                        yield self.a.own[one], self.b.own[other]

    def _alike(self, one: int, other: int) -> bool:
        return self.a.local(self.a.recording.nodes[one]) == self.b.local(self.b.recording.nodes[other])

    def _spread(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Match neighbours of matched nodes: what edges in the same position lead to, and the only alike user."""
        waiting = list(pairs) if not self._is_done else []
        while waiting:
            one, other = waiting.pop()
            self._pair(one, other)
            if self.to_b.get(one) != other:
                continue
            ours, theirs = self.a.recording.nodes[one].edges, self.b.recording.nodes[other].edges
            if len(ours) == len(theirs):
                for (to, number), (into, nr) in zip(ours, theirs, strict=True):
                    if to is not None and into is not None and number == nr and self._alike(to, into):
                        self._follow(self.a.own[to], self.b.own[into], waiting)
            users, others = self._open_users(self.a, one, self.to_b), self._open_users(self.b, other, self.to_a)
            for label, user in users.items():
                if user is not None and others.get(label) is not None:
                    self._follow(user, others[label], waiting)

    def _follow(self, one: int, other: int | None, waiting: list[tuple[int, int]]) -> None:
        if other is not None and self._pair(one, other):
            waiting.append((one, other))

    def _open_users(self, side: Fingerprints, node: int, known: Mapping[int, int]) -> dict[Label, int | None]:
        """The users of a node that are not matched, by what they are; None for several of a kind."""
        found: dict[Label, int | None] = {}
        for user, edge in side.users.get(node, ()):
            if user not in known:
                label = (side.segments[user], edge, *side.local(side.recording.nodes[user]))
                found[label] = None if label in found else user
        return found

    def _match_aligned(self, label: Callable[[Fingerprints, NodeRecord], Label]) -> bool:
        """Align the operations that are not matched, in the order of the tape. Returns whether any were matched."""
        ours, theirs = _open_operations(self.a, self.to_b), _open_operations(self.b, self.to_a)
        pairs = aligned([label(self.a, one) for one in ours], [label(self.b, one) for one in theirs])
        return any([self._pair(ours[i].id, theirs[j].id) for i, j in pairs])


def _open_operations(side: Fingerprints, known: Mapping[int, int]) -> list[NodeRecord]:
    """The operations that are not matched, of what is compared; without those that no pass evaluates.

    A recorder may omit these, or number them later.
    """
    nodes = zip(side.recording.nodes, side.segments, strict=True)
    return [
        one
        for one, at in nodes
        if one.variable is None and one.id not in known and at != ONLY_HERE and side.is_evaluated(one.id)
    ]


def _names(side: Fingerprints, variable: int) -> tuple[str, ...]:
    return side.recording.tensors[variable].names


def _best_name(side: Fingerprints, variable: int) -> tuple[str, ...]:
    return _names(side, variable)[:1]


def _by_name(side: Fingerprints, names: Callable[[Fingerprints, int], tuple[str, ...]]) -> Mapping[str, Sequence[int]]:
    found: dict[str, list[int]] = {}
    for node in side.recording.nodes:
        if node.variable is not None and side.own[node.id] == node.id:
            for name in names(side, node.variable):
                found.setdefault(name, []).append(node.id)
    return found


def _grouped(
    side: Fingerprints, labels: Callable[[Fingerprints], Iterable[Label | None]], known: Mapping[int, int]
) -> Mapping[Label, list[int]]:
    """The nodes that are not matched yet, by their labels; without those that have none."""
    found: dict[Label, list[int]] = {}
    for node, label in zip(side.own, labels(side), strict=True):
        if node not in known and label is not None:
            group = found.setdefault(label, [])
            if not group or group[-1] != node:
                group.append(node)
    return found
