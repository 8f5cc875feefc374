"""Which boxes a picture has: one for each node, each group of repetitions, and each group of inputs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from microtape.recording.model.model import Recording, TensorRef
from viz.basics.graph import Cluster
from viz.planning.dataflow import Cut, Use
from viz.planning.fold_tree import FoldView, Group


@dataclass(frozen=True, eq=False, slots=True)
class InputGroup:
    """Many leaves or many constants that the same groups use, drawn as one box."""

    kind: Literal["leaves", "constants"]
    of: tuple[Group, ...]  # the groups of repetitions that use them
    members: tuple[int | TensorRef, ...]

    @property
    def id(self) -> str:
        """The same in every picture that has these members."""
        ends = (self.members[0], self.members[-1])
        names = [f"n{one}" if isinstance(one, int) else f"t{one.tensor}v{one.version}" for one in ends]
        return f"{names[0]}to{names[1]}"


MOST_ALIKE = 8  # the most inputs used by the same boxes that are still drawn one by one

Key: TypeAlias = int | TensorRef | Group | InputGroup
"""What a box stands for: a node, a tensor that needs no gradient, a group of repetitions, a group of inputs."""


@dataclass(frozen=True, eq=False, slots=True)
class Link:
    """One arrow: a single use, or all uses between two boxes if one of them is a group."""

    tail: Key
    head: Key
    uses: tuple[Use, ...]  # empty for a border, where no gradient ever goes back


@dataclass(frozen=True, eq=False)
class BoxPlan:
    """The boxes in tape order, and the arrows in the order of their heads."""

    view: FoldView
    order: tuple[Key, ...]
    key_of: Mapping[int | TensorRef, Key]
    clusters: Mapping[Key, tuple[Cluster, ...]]
    leaves: Mapping[Group, tuple[int, ...]]  # that are in the box of the group which alone uses them
    _planner: Planner
    _repetition: Mapping[int, tuple[Group, int]]  # of each node in a group

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """The arrows. What stays within one repetition has none."""
        inside, key_of = self._repetition, self.key_of
        drawn = [use for use in self._planner.uses if use.by not in inside or inside[use.by] != inside.get(_node(use))]
        return (*_links(drawn, key_of), *_cuts(self._planner.cuts, key_of, self.order))


@dataclass(frozen=True, eq=False)
class Planner:
    """Plans the boxes of the same nodes with different folds open."""

    recording: Recording
    nodes: Sequence[int]
    uses: Sequence[Use]
    cuts: Sequence[Cut] = ()

    @cached_property
    def _users(self) -> Mapping[int | TensorRef, list[int]]:
        users = defaultdict[int | TensorRef, list[int]](list)
        for use in self.uses:
            users[use.of].append(use.by)
        return users

    def plan(self, view: FoldView) -> BoxPlan:
        """Distribute the nodes and the values they use over boxes."""
        key_of: dict[int | TensorRef, Key] = {}
        repetition: dict[int, tuple[Group, int]] = {}
        place: dict[Key, float] = {}
        for at, item in enumerate(view.items):
            place[item] = at
            if isinstance(item, int):
                key_of[item] = item
                continue
            for number, inside in enumerate(item.nodes):
                key_of.update(dict.fromkeys(inside, item))
                repetition.update(dict.fromkeys(inside, (item, number)))
        users = self._users
        leaves = (node for node in self.nodes if self.recording.nodes[node].variable is not None)
        inputs = dict.fromkeys([*leaves, *users])
        unplaced = [one for one in inputs if one not in key_of]
        input_groups, own = _grouped(self.recording, unplaced, users, repetition, key_of)
        for group in input_groups:
            key_of.update(dict.fromkeys(group.members, group))
        for user, inner in own.items():
            for leaf in inner:
                key_of[leaf], repetition[leaf] = user, repetition[users[leaf][0]]
        clusters: dict[Key, tuple[Cluster, ...]] = {item: view.clusters.get(item, ()) for item in view.items}
        for one in inputs:
            key = key_of.setdefault(one, one)
            if key not in place:
                around = [key_of[user] for user in users.get(one, ())]
                place[key] = min((place[user] for user in around), default=0) - 0.5
                clusters[key] = _common([clusters[user] for user in around])
        for cut in self.cuts:
            if isinstance(cut.of, TensorRef) and cut.of not in key_of and key_of.get(cut.into) == cut.into:
                key_of[cut.of], place[cut.of] = cut.of, place[cut.into] - 0.25
                clusters[cut.of] = clusters[cut.into]
        order = sorted(place, key=lambda key: (place[key], not isinstance(key, TensorRef)))
        return BoxPlan(view, tuple(order), key_of, clusters, own, self, repetition)

    def count(self, view: FoldView) -> int:
        """How many boxes the plan has."""
        return len(self.plan(view).order)

    def without_constants(self) -> Planner:
        """The same, without boxes for tensors that need no gradient."""
        uses = [use for use in self.uses if isinstance(use.of, int)]
        cuts = [cut for cut in self.cuts if isinstance(cut.into, int)]
        return Planner(self.recording, self.nodes, uses, cuts)


def _node(use: Use) -> int:
    return use.of if isinstance(use.of, int) else -1


def _grouped(
    recording: Recording,
    inputs: Sequence[int | TensorRef],
    users: Mapping[int | TensorRef, list[int]],
    repetition: Mapping[int, tuple[Group, int]],
    key_of: Mapping[int | TensorRef, Key],
) -> tuple[list[InputGroup], dict[Group, tuple[int, ...]]]:
    """Inputs that have no box of their own: groups of inputs, and the leaves that are in the boxes of groups.

    A leaf that only one repetition uses, such as a module's parameter, is in its box. Constants that only one
    repetition uses share a box, and so do the parameters of a module that is called several times, and many inputs
    that the same boxes use.
    """
    alone = defaultdict[tuple[bool, Group], list[int | TensorRef]](list)
    alike = defaultdict[tuple[bool, frozenset[Key]], list[int | TensorRef]](list)
    for one in inputs:
        where = {repetition.get(user) for user in users.get(one, ())}
        only = where.pop() if len(where) == 1 else None
        if only is not None:
            alone[isinstance(one, int), only[0]].append(one)
        else:
            alike[isinstance(one, int), frozenset(key_of[user] for user in users.get(one, ()))].append(one)
    found: list[InputGroup] = []
    own: dict[Group, tuple[int, ...]] = {}
    for (leaves, group), members in alone.items():
        if leaves and (members[1:] or _is_part(recording, members[0])):
            own[group] = tuple(one for one in members if isinstance(one, int))
        elif members[1:]:
            found.append(InputGroup(_kind(leaves), (group,), tuple(members)))
    for (leaves, keys), members in alike.items():
        groups = tuple(sorted((key for key in keys if isinstance(key, Group)), key=lambda group: group.nodes[0]))
        is_module = len(groups) == len(keys) and all(_is_part(recording, one) for one in members)
        if groups and len(members) > (1 if is_module else MOST_ALIKE):
            found.append(InputGroup(_kind(leaves), groups, tuple(members)))
    return found, own


def _is_part(recording: Recording, leaf: int | TensorRef) -> bool:
    """Whether its name says that it is a part of something: `norm.weight`, `layers[0]`."""
    variable = recording.nodes[leaf].variable if isinstance(leaf, int) else None
    return variable is not None and any(sign in recording.tensors[variable].name for sign in ".[")


def _kind(leaves: bool) -> Literal["leaves", "constants"]:
    return "leaves" if leaves else "constants"


def _common(clusters: Sequence[tuple[Cluster, ...]]) -> tuple[Cluster, ...]:
    """The outer clusters that all of these have in common."""
    depth = 0
    while clusters and all(len(one) > depth and one[depth] == clusters[0][depth] for one in clusters):
        depth += 1
    return clusters[0][:depth] if clusters else ()


def _cuts(cuts: Sequence[Cut], key_of: Mapping[int | TensorRef, Key], order: Sequence[Key]) -> list[Link]:
    """The borders between two boxes. Inputs that a fold detached from its own results are still drawn above it."""
    position = {key: at for at, key in enumerate(order)}
    ends = dict.fromkeys((key_of[one.of], key_of[one.into]) for one in cuts if one.of in key_of and one.into in key_of)
    return [
        Link(tail, head, ())
        for tail, head in ends
        if tail is not head and (position[tail] < position[head] or isinstance(head, InputGroup))
    ]


def _links(uses: Sequence[Use], key_of: Mapping[int | TensorRef, Key]) -> list[Link]:
    single: dict[object, list[Use]] = {}
    for number, use in enumerate(uses):
        ends = (key_of[use.of], key_of[use.by])
        merged = any(isinstance(end, Group | InputGroup) for end in ends)
        single.setdefault(ends if merged else number, []).append(use)
    return [Link(key_of[found[0].of], key_of[found[0].by], tuple(found)) for found in single.values()]
