"""Boxes of folds: the repeated operations, and how values and gradients change from repetition to repetition."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from microtape.recording.model.model import Place, TensorRef
from microtape.recording.moments.moment import Moment
from viz.basics.characters import visible
from viz.basics.graph import Box, BoxState, Row, Tone
from viz.basics.options import Detail
from viz.planning.box_plan import MOST_ALIKE, BoxPlan, InputGroup
from viz.planning.display_names import code_at, location, operation_title, shape_words, tensor_name
from viz.planning.fold import Item
from viz.planning.fold_tree import Group
from viz.planning.group_contents import GroupContents, Members
from viz.planning.running_sizes import RunningSizes
from viz.scene.boxes import FORMULA_WIDTH, NO_GRADIENT
from viz.scene.history_ends import WORDS, history_end
from viz.scene.value_rows import VALUE_WIDTH

MOST_ROLES = 6
NAME_WIDTH = 30
_NUMBERED = re.compile(r"^\d+\.(?=.)")


class _Role(NamedTuple):
    """Inputs that differ only in the numbers in their names."""

    name: str
    text: str
    leaves: tuple[int, ...]  # their tensors; empty for constants


class _FixedGroup(NamedTuple):
    """What does not change in the box of a group: all but its state, its gradients and its culprits."""

    box: Box
    has_gradients: bool
    leaves: list[_Role]


@dataclass(frozen=True, eq=False)
class FoldBoxMaker:
    """Makes the boxes of the groups in one picture."""

    now: Moment
    show: Collection[Detail]
    plan: BoxPlan
    contents: GroupContents
    culprits: Mapping[int, Row]  # node -> what is wrong there

    def group(self, group: Group, rank: int) -> Box:
        """The box of closed repetitions."""
        members = self.contents.members(group)
        fixed = self.contents.fixed(group, lambda: self._fixed_group(group, members, rank))
        state, done = self._state(members), members.done(self.now)
        rows = [*self._culprits(members), *fixed.box.rows]
        if fixed.has_gradients:
            rows += self._sizes("|grad|", self._running(self.contents.gradients(group)), "gradient")
        rows += map(self._role, fixed.leaves[:MOST_ROLES])
        rows += _more(fixed.leaves)
        if state == "partly" or (state in ("current", "receiving") and done):
            rows.append(Row("done", f"{done} of {members.evaluated} steps", "muted"))
        return replace(fixed.box, state=state, rows=tuple(rows))

    def _fixed_group(self, group: Group, members: Members, rank: int) -> _FixedGroup:
        """What does not change during the pass."""
        rows = [Row("", visible(" · ".join(map(self._word, group.times[0])), FORMULA_WIDTH), "muted")]
        outs, timeline = self.contents.results(group), self.now.timeline
        box = Box(
            id=group.id,
            kind="fold",
            state="",
            title=group.title,
            note=_each(group.nodes),
            rows=(*rows, *self._source(members.place), *self._results(outs)),
            ports=(),
            tooltip=self._tooltip(group),
            rank=rank,
            node=None,
            recorded_in=members.recorded_in,
            clusters=self.plan.clusters.get(group, ()),
        )
        has_gradients = "gradients" in self.show and any(node in timeline.evaluates for node in outs)
        return _FixedGroup(box, has_gradients, self._leaves(group))

    def inputs(self, group: InputGroup, rank: int) -> Box:
        """The box of a group of leaves or of constants."""
        leaves = self.contents.members(group)
        box, roles = self.contents.fixed(group, lambda: self._fixed_inputs(group, leaves, rank))
        rows = [*self._culprits(leaves), *map(self._role, roles[:MOST_ROLES]), *_more(roles)]
        return replace(box, state=self._state(leaves) if leaves.nodes else "", rows=tuple(rows))

    def _fixed_inputs(self, group: InputGroup, leaves: Members, rank: int) -> tuple[Box, list[_Role]]:
        """The box without its rows, and the roles of its members."""
        shared = {user.fold.name for user in group.of}
        of = shared.pop() if len(shared) == 1 else " and ".join(user.name for user in group.of[:2])
        names = [self._name(one) for one in group.members]
        what = _what(names) if leaves.nodes else "tensors"
        box = Box(
            id=group.id,
            kind="folded leaves" if leaves.nodes else "folded constants",
            state="",
            title=f"{len(group.members)} {what}",
            note=f"of {of}",
            rows=(),
            ports=(),
            tooltip=(f"{len(group.members)} {what} that {of} uses",),
            rank=rank,
            node=None,
            clusters=self.plan.clusters.get(group, ()),
        )
        if leaves.nodes and len(names) <= MOST_ALIKE:
            return box, self._by_name("", leaves.nodes)
        return box, self._roles(group.members)

    def _culprits(self, members: Members) -> list[Row]:
        """What is wrong inside, with the name of the first culprit."""
        inside = [node for node in self.culprits if node in members.inside]
        if not inside:
            return []
        node = self.now.recording.nodes[inside[0]]
        name = operation_title(self.now, node) if node.variable is None else self._name(node.id)
        more = f" and {len(inside) - 1} more" if len(inside) > 1 else ""
        text = f"{self.culprits[node.id].text} in {visible(name, NAME_WIDTH) or f'%{node.id}'}{more}"
        return [Row("", visible(text, FORMULA_WIDTH), "alarm")]

    def _state(self, members: Members) -> BoxState:
        now = self.now
        if now.pass_ is None:
            return ""
        if now.failed is not None and now.failed.node in members.inside:
            return "failed"
        if now.current is not None:
            if now.current.node in members.inside:
                return "current"
            if any(one.node in members.inside for one in now.current.deliveries):
                return "receiving"
        if not members.is_there(now):
            return "absent"
        done = members.done(now)
        if done:
            return "done" if done == members.evaluated else "partly"
        if members.inside.intersection(now.ready):
            return "ready"
        if members.evaluated:
            return "future"
        return "" if now.recording.nodes[members.nodes[0]].pass_ == now.pass_.index else "outside"

    def _word(self, item: Item) -> str:
        if isinstance(item, int):
            return self.now.recording.nodes[item].op
        return Group(item, 0, len(item.times)).title

    def _source(self, place: Place | None) -> list[Row]:
        if "source" not in self.show or place is None:
            return []
        recording = self.now.recording
        return [Row(location(recording, place), code_at(recording, place, VALUE_WIDTH), "muted")]

    def _results(self, outs: Sequence[int]) -> list[Row]:
        now, rows = self.now, []
        refs = [now.recording.nodes[node].outputs[0] if now.recording.nodes[node].outputs else None for node in outs]
        known = [ref for ref in refs if ref is not None]
        shapes = list(dict.fromkeys(now.recording.tensors[ref.tensor].shape for ref in known))
        if known:
            shape = shape_words(shapes[0]) if len(shapes) == 1 else "several shapes"
            rows.append(Row("result", f"{span(tensor_name(now, known[0]), tensor_name(now, known[-1]))}  {shape}"))
        if "values" in self.show:
            values = [None if ref is None else now.recording.value(ref) for ref in refs]
            rows += self._sizes("|value|", self.contents.sizes(values), "plain")
        return rows

    def _running(self, sizes: RunningSizes) -> RunningSizes:
        sizes.move(self.now.steps_done)
        return sizes

    def _sizes(self, key: str, sizes: RunningSizes, tone: Tone) -> list[Row]:
        if not sizes.text:
            return [Row(key, NO_GRADIENT, "muted")] if tone == "gradient" else []
        if sizes.wrong:
            return [
                Row(key, sizes.text, "alarm"),
                Row("", f"NaN or Inf in {sizes.wrong} of {sizes.count}", "alarm"),
            ]
        return [Row(key, sizes.text, tone)]

    def _leaves(self, group: Group) -> list[_Role]:
        """The leaves that only the group uses: their names or, for several repetitions, their roles."""
        leaves = self.plan.leaves.get(group, ())
        if not leaves:
            return []
        count = f"{len(leaves)} {_what([self._name(leaf) for leaf in leaves])}"
        if len(group.times) > 1:
            return [_Role("", count, ()), *self._roles(leaves, without_number=True)]
        return self._by_name(count, leaves)

    def _by_name(self, key: str, leaves: Sequence[int]) -> list[_Role]:
        """The names of a few leaves, and how large their gradients are."""
        names = short_names([self._name(leaf) for leaf in leaves])
        named = _Role(key, visible(", ".join(names), FORMULA_WIDTH), ())
        if "gradients" not in self.show or self.now.pass_ is None:
            return [named]
        return [named, _Role("|.grad|", "", tuple(self._tensor(leaf) for leaf in leaves))]

    def _roles(self, members: Sequence[int | TensorRef], *, without_number: bool = False) -> list[_Role]:
        """The members grouped by name, numbers aside: `layers[0].w` and `layers[1].w` have the same role.

        `without_number` also leaves the number out of `3.weight`.
        """
        names = short_names([self._name(one) for one in members])
        if without_number and all(_NUMBERED.match(name) for name in names):
            names = [_NUMBERED.sub("", name) for name in names]
        found: dict[tuple[str, int], list[tuple[str, int | TensorRef]]] = {}
        for name, one in zip(names, members, strict=True):
            dimensions = len(self.now.recording.tensors[self._tensor(one)].shape)
            found.setdefault((re.sub(r"\d+", "#", name), dimensions), []).append((name, one))
        return [self._new_role(span(role[0][0], role[-1][0]), [one for _, one in role]) for role in found.values()]

    def _new_role(self, name: str, members: Sequence[int | TensorRef]) -> _Role:
        now = self.now
        tensors = tuple(self._tensor(one) for one in members)
        shapes = list(dict.fromkeys(now.recording.tensors[tensor].shape for tensor in tensors))
        text = f"{len(members)} of {shape_words(shapes[0])}" if len(shapes) == 1 else f"{len(members)}, several shapes"
        named = visible(name, NAME_WIDTH) or "unnamed"
        found = history_end(now, members[0]) if isinstance(members[0], TensorRef) else None
        if found is not None:
            text += f"  ✂ {WORDS[found.crossed.kind]}"
        return _Role(named, text, tensors if isinstance(members[0], int) else ())

    def _role(self, role: _Role) -> Row:
        if not role.leaves or "gradients" not in self.show or self.now.pass_ is None:
            return Row(role.name, role.text, "plain" if role.name else "muted")
        row = self._sizes("", self._running(self.contents.leaf_gradients(role.leaves)), "gradient")[0]
        return Row(role.name, f"{role.text}  .grad {row.text}" if role.text else row.text, row.tone)

    def _tensor(self, one: int | TensorRef) -> int:
        if isinstance(one, TensorRef):
            return one.tensor
        variable = self.now.recording.nodes[one].variable
        assert variable is not None
        return variable

    def _name(self, one: int | TensorRef) -> str:
        return self.now.recording.tensors[self._tensor(one)].name

    def _tooltip(self, group: Group) -> tuple[str, ...]:
        fold, nodes = group.fold, group.nodes
        path, last = (self.plan.view.tree.path(one) for one in (group, Group(fold, group.stop - 1, group.stop)))
        span, opens = f"%{nodes[0][0]} to %{nodes[-1][-1]}", f'open="{path}" opens it'
        if len(group.times) == 1:
            return (f"{path}: {span}", opens)
        return (
            f"{path}: {len(group.times)} of {len(fold.times)} repetitions, {span}",
            "|value| and |grad| are root mean squares of each repetition's result, first to last, on a log scale",
            f'{opens}, open="{last}" its last repetition',
        )


def _more(roles: Sequence[_Role]) -> list[Row]:
    more = len(roles) - MOST_ROLES
    return [Row("", f"… and {more} more kinds", "muted")] if more > 0 else []


def _what(names: Sequence[str]) -> str:
    one, several = ("parameter", "parameters") if all("." in name for name in names) else ("leaf", "leaves")
    return one if len(names) == 1 else several


def short_names(names: Sequence[str]) -> list[str]:
    """The names without what all of them begin or end with: `q` and `k` for `block.q.weight` and `block.k.weight`."""
    words = [name.split(".") for name in names]
    if len(words) == 1:
        return [".".join(words[0][-2:])]
    shortest = min(map(len, words))
    before = next((at for at in range(shortest - 1) if len({one[at] for one in words}) > 1), shortest - 1)
    words = [one[before:] for one in words]
    shortest = min(map(len, words))
    after = next((at for at in range(shortest - 1) if len({one[-1 - at] for one in words}) > 1), shortest - 1)
    return [".".join(one[: len(one) - after]) for one in words]


def span(first: str, last: str) -> str:
    """`w[0…19]` for `w[0]` and `w[19]`."""
    one, other = re.split(r"(\d+)", first), re.split(r"(\d+)", last)
    if len(one) != len(other) or one[::2] != other[::2]:
        return f"{first} … {last}"
    return "".join(a if a == b else f"{a}…{b}" for a, b in zip(one, other, strict=True))


def _each(times: Sequence[Sequence[int]]) -> str:
    counts = sorted({len(each) for each in times})
    if len(times) == 1:
        return f"{counts[0]} operation{'s' * (counts[0] != 1)}"
    if len(counts) == 1:
        return f"{counts[0]} operation{'s' * (counts[0] != 1)} each"
    return f"{counts[0]} to {counts[-1]} operations each"
