"""What boxes of many nodes and arrows of many uses have in them, as far as it is the same at every moment of a film."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from microtape.recording.model.model import Place, TensorRef, Value
from microtape.recording.model.moment import Moment, PassTimeline
from viz.planning.open_folds import Group
from viz.planning.plan import Link, Own
from viz.planning.spark import size
from viz.planning.uses import Use


@dataclass(frozen=True, eq=False, slots=True)
class Members:
    """The nodes in one box."""

    nodes: tuple[int, ...]
    inside: frozenset[int]  # the same
    evaluated: int  # how many of them the pass evaluates
    steps: tuple[int, ...]  # in which it does so, in order
    since: int  # the step that recorded the first of them; -1: the program did
    recorded_in: int | None  # the pass that recorded all of them
    place: Place | None  # of the longest expression of the last repetition: it is what the others are parts of

    def done(self, now: Moment) -> int:
        """How many have been evaluated by now."""
        return bisect_left(self.steps, now.steps_done)

    def is_there(self, now: Moment) -> bool:
        """Whether any of them has been recorded yet."""
        return self.since < now.steps_done


@dataclass(frozen=True, eq=False, slots=True)
class Travels:
    """When gradients went along an arrow."""

    edges: int  # along which one could go
    steps: tuple[int, ...]  # in which one did, in order
    defined: tuple[int, ...]  # the same, but for gradients that were None
    since: int  # the step that recorded the first of its uses; -1: the program did
    ended: bool  # what is used was detached before

    def came(self, now: Moment) -> int:
        """How many gradients have gone along it by now."""
        return bisect_left(self.steps, now.steps_done)

    def came_now(self, now: Moment) -> bool:
        """Whether one did in the step in the foreground."""
        return now.current is not None and bisect_left(self.steps, now.current.index) < self.came(now)

    def is_defined(self, now: Moment) -> bool:
        """Whether one that came was not None."""
        return bisect_left(self.defined, now.steps_done) > 0


class Repetitions:
    """The members of the boxes of a scene, the results of repetitions, and how large arrays are."""

    def __init__(self, timeline: PassTimeline, uses: Sequence[Use]) -> None:
        self._timeline, self._uses = timeline, uses
        self._members: dict[Group | Own, Members] = {}
        self._travels: dict[Link, Travels] = {}
        self._results: dict[Group, list[int]] = {}
        self._sizes: dict[int, tuple[Value, float]] = {}  # by id; holding the array keeps its id from being used again

    def members(self, of: Group | Own) -> Members:
        """What is in that box; of tensors that need no gradient, nothing is."""
        known = self._members.get(of)
        if known is None:
            nodes = (
                tuple(node for each in of.nodes for node in each)
                if isinstance(of, Group)
                else tuple(one for one in of.members if isinstance(one, int))
            )
            known = self._members[of] = self._known(nodes)
        return known

    def _known(self, nodes: tuple[int, ...]) -> Members:
        timeline = self._timeline
        records = [timeline.recording.nodes[node] for node in nodes]
        passes = {record.pass_ for record in records}
        places = [record.place for record in reversed(records) if record.place is not None]
        return Members(
            nodes=nodes,
            inside=frozenset(nodes),
            evaluated=sum(node in timeline.evaluates for node in nodes),
            steps=tuple(sorted(step.index for node in nodes if (step := timeline.step_of.get(node)) is not None)),
            since=min((timeline.made_at.get(node, -1) for node in nodes), default=-1),
            recorded_in=passes.pop() if len(passes) == 1 else None,
            place=max(places, key=lambda one: (one.end_line - one.line, one.end_column - one.column), default=None),
        )

    def travels(self, link: Link) -> Travels:
        """When gradients went along that arrow."""
        known = self._travels.get(link)
        if known is None:
            timeline = self._timeline
            edges = [(use.by, use.edge) for use in link.uses if use.edge is not None]
            gone = sorted(
                (timeline.travelled[one] for one in edges if one in timeline.travelled), key=lambda one: one[0]
            )
            known = self._travels[link] = Travels(
                edges=len(edges),
                steps=tuple(step for step, _ in gone),
                defined=tuple(step for step, delivery in gone if delivery.term is not None),
                since=min((timeline.made_at.get(use.by, -1) for use in link.uses), default=-1),
                ended=all(use.ended for use in link.uses),
            )
        return known

    @cached_property
    def _users(self) -> Mapping[int | TensorRef, list[int]]:
        found = defaultdict[int | TensorRef, list[int]](list)
        for use in self._uses:
            found[use.of].append(use.by)
        return found

    def results(self, group: Group) -> list[int]:
        """Of each repetition the last operation whose result is used outside of it."""
        if group not in self._results:
            self._results[group] = [self._result(each) for each in group.nodes]
        return self._results[group]

    def _result(self, nodes: Sequence[int]) -> int:
        inside = set(nodes)
        for node in reversed(nodes):
            if not inside.issuperset(self._users.get(node, ())):
                return node
        return nodes[-1]

    def size(self, value: Value) -> float:
        """See `viz.spark.size`."""
        known = self._sizes.get(id(value))
        if known is None:
            known = self._sizes[id(value)] = (value, size(value))
        return known[1]
