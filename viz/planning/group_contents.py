"""The nodes in the boxes of groups, and the gradients along their arrows, computed once for all moments of a film."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from microtape.recording.model.model import Place, TensorRef, Value
from microtape.recording.moments.moment import Moment, PassTimeline
from viz.planning.box_plan import InputGroup, Link
from viz.planning.dataflow import Use
from viz.planning.fold_tree import Group
from viz.planning.running_sizes import RunningSizes
from viz.planning.sparkline import root_mean_square

T = TypeVar("T")


@dataclass(frozen=True, eq=False, slots=True)
class Members:
    """The nodes in one box."""

    nodes: tuple[int, ...]
    inside: frozenset[int]  # the same nodes, for quick lookup
    evaluated: int  # how many of them the pass evaluates in all
    steps: tuple[int, ...]  # the steps that evaluate them, in order
    since: int  # the step that recorded the first of them; -1: the program did
    recorded_in: int | None  # the pass that recorded all of them
    place: Place | None  # of the longest expression among the operations: the other expressions are parts of it

    def done(self, now: Moment) -> int:
        """How many nodes have been evaluated by this moment."""
        return bisect_left(self.steps, now.steps_done)

    def is_there(self, now: Moment) -> bool:
        """Whether any node has been recorded by this moment."""
        return self.since < now.steps_done


@dataclass(frozen=True, eq=False, slots=True)
class GradientFlow:
    """When gradients travelled along an arrow."""

    edges: int  # how many of its uses are edges
    steps: tuple[int, ...]  # the steps that sent a gradient, in order
    defined: tuple[int, ...]  # the same without gradients that were None
    since: int  # the step that recorded the first of its uses; -1: the program did
    ended: bool  # the value was detached before every use

    def came(self, now: Moment) -> int:
        """How many gradients have travelled along it by this moment."""
        return bisect_left(self.steps, now.steps_done)

    def came_now(self, now: Moment) -> bool:
        """Whether a gradient travelled along it in the current step."""
        return now.current is not None and bisect_left(self.steps, now.current.index) < self.came(now)

    def is_defined(self, now: Moment) -> bool:
        """Whether any gradient that has travelled along it by this moment was not None."""
        return bisect_left(self.defined, now.steps_done) > 0


class GroupContents:
    """Looks up the members of groups, the gradients along arrows, and the sizes of arrays; each is computed once."""

    def __init__(self, timeline: PassTimeline, uses: Sequence[Use], leaves: Mapping[Group, tuple[int, ...]]) -> None:
        self._timeline, self._uses, self._leaves = timeline, uses, leaves
        self._members: dict[Group | InputGroup, Members] = {}
        self._flows: dict[Link, GradientFlow] = {}
        self._results: dict[Group, list[int]] = {}
        self._sizes: dict[int, tuple[Value, float]] = {}  # by id; keeping the array alive keeps its id unique
        self._fixed: dict[Hashable, Any] = {}

    def members(self, of: Group | InputGroup) -> Members:
        """The nodes in that box; none for a group of constants."""
        known = self._members.get(of)
        if known is None:
            nodes = (
                (*(node for each in of.nodes for node in each), *self._leaves.get(of, ()))
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

    def flow(self, link: Link) -> GradientFlow:
        """When gradients travelled along that arrow."""
        known = self._flows.get(link)
        if known is None:
            timeline = self._timeline
            edges = [(use.by, use.edge) for use in link.uses if use.edge is not None]
            gone = sorted(
                (timeline.travelled[one] for one in edges if one in timeline.travelled), key=lambda one: one[0]
            )
            known = self._flows[link] = GradientFlow(
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
        """For each repetition, the last operation whose result is used outside the repetition."""
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
        """See `root_mean_square`."""
        known = self._sizes.get(id(value))
        if known is None:
            known = self._sizes[id(value)] = (value, root_mean_square(value))
        return known[1]

    def fixed(self, of: Hashable, make: Callable[[], T]) -> T:
        """What does not change during a pass: made once, then looked up."""
        if of not in self._fixed:
            self._fixed[of] = make()
        known: T = self._fixed[of]
        return known

    def sizes(self, values: Sequence[Value | None]) -> RunningSizes:
        """Sizes that do not change."""
        return RunningSizes(values, (), self.size)

    def gradients(self, group: Group) -> RunningSizes:
        """The gradient of the result of each repetition."""
        return self.fixed((group, "gradients"), lambda: self._gradients(self.results(group)))

    def _gradients(self, nodes: Sequence[int]) -> RunningSizes:
        timeline = self._timeline
        changes = [
            (step + 1, number, one.total)
            for number, node in enumerate(nodes)
            for step, one in timeline.received(node)
            if one.input_nr == 0 and one.total is not None
        ]
        return RunningSizes([timeline.seeds.get((node, 0)) for node in nodes], changes, self.size)

    def leaf_gradients(self, tensors: tuple[int, ...]) -> RunningSizes:
        """The `.grad` of each leaf."""
        return self.fixed((tensors, ".grad"), lambda: self._leaf_gradients(tensors))

    def _leaf_gradients(self, tensors: Sequence[int]) -> RunningSizes:
        timeline, pass_ = self._timeline, self._timeline.pass_
        known = timeline.accumulated
        gone = [(number, known[one]) for number, one in enumerate(tensors) if one in known]
        changes = [(step + 1, number, grad) for number, (step, grad) in gone]
        return RunningSizes([pass_.grads.get(one) if pass_ else None for one in tensors], changes, self.size)
