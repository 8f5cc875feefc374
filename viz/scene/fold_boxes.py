"""Boxes of folds: the repeated operations, and how values and gradients change from repetition to repetition."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from microtape.recording.model.model import Place, TensorRef, Value
from microtape.recording.model.moment import Moment
from viz.basics.characters import visible
from viz.basics.graph import Box, BoxState, Row
from viz.basics.options import Detail
from viz.planning.box_plan import BoxPlan, InputGroup
from viz.planning.display_names import code_at, location, operation_title, shape_words, tensor_name
from viz.planning.fold import Item
from viz.planning.fold_tree import Group
from viz.planning.group_contents import GroupContents, Members
from viz.planning.sparkline import sparkline
from viz.scene.boxes import FORMULA_WIDTH, NO_GRADIENT
from viz.scene.history_ends import WORDS, history_end
from viz.scene.value_rows import VALUE_WIDTH

MOST_ROLES = 6
NAME_WIDTH = 30
_NUMBERED = re.compile(r"^\d+\.(?=.)")


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
        state, done = self._state(members), members.done(self.now)
        rows = self._culprits(members)
        rows += [Row("", visible(" · ".join(map(self._word, group.times[0])), FORMULA_WIDTH), "muted")]
        rows += self._source(members.place)
        rows += self._results(self.contents.results(group))
        rows += self._leaves(group)
        if state == "partly" or (state in ("current", "receiving") and done):
            rows.append(Row("done", f"{done} of {members.evaluated} steps", "muted"))
        return Box(
            id=group.id,
            kind="fold",
            state=state,
            title=group.title,
            note=_each(group.nodes),
            rows=tuple(rows),
            ports=(),
            tooltip=self._tooltip(group),
            rank=rank,
            node=None,
            recorded_in=members.recorded_in,
            clusters=self.plan.clusters.get(group, ()),
        )

    def inputs(self, group: InputGroup, rank: int) -> Box:
        """The box of a group of leaves or of constants."""
        leaves = self.contents.members(group)
        of = " and ".join(user.name for user in group.of[:2])
        rows = [*self._culprits(leaves), *self._roles(group.members)]
        what = "leaves" if leaves.nodes else "tensors"
        return Box(
            id=group.id,
            kind="folded leaves" if leaves.nodes else "folded constants",
            state=self._state(leaves) if leaves.nodes else "",
            title=f"{len(group.members)} {what}",
            note=f"of {of}",
            rows=tuple(rows),
            ports=(),
            tooltip=(f"{len(group.members)} {what} that {of} uses",),
            rank=rank,
            node=None,
            clusters=self.plan.clusters.get(group, ()),
        )

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
            rows += self._sizes("|value|", [None if ref is None else now.recording.value(ref) for ref in refs], "plain")
        if "gradients" in self.show and now.pass_ is not None and any(node in now.timeline.evaluates for node in outs):
            came = [now.arrived(node, 0) for node in outs]
            rows += self._sizes("|grad|", [None if one is None else one.total for one in came], "gradient")
        return rows

    def _sizes(self, key: str, values: Sequence[Value | None], tone: str) -> list[Row]:
        sizes = [None if value is None else self.contents.size(value) for value in values]
        if all(one is None for one in sizes):
            return [Row(key, NO_GRADIENT, "muted")] if tone == "gradient" else []
        wrong = [number for number, one in enumerate(sizes) if one is not None and math.isnan(one)]
        if wrong:
            return [
                Row(key, sparkline(sizes), "alarm"),
                Row("", f"NaN or Inf in {len(wrong)} of {len(sizes)}", "alarm"),
            ]
        return [Row(key, sparkline(sizes), "gradient" if tone == "gradient" else "plain")]

    def _leaves(self, group: Group) -> list[Row]:
        """The leaves that only the group uses: their names or, for several repetitions, a row for each role."""
        leaves = self.plan.leaves.get(group, ())
        if not leaves:
            return []
        names = [self._name(leaf) for leaf in leaves]
        one, several = ("parameter", "parameters") if all("." in name for name in names) else ("leaf", "leaves")
        what = one if len(leaves) == 1 else several
        if group.stop - group.first > 1:
            return [Row("", f"{len(leaves)} {what}", "muted"), *self._roles(leaves, without_number=True)]
        rows = [Row(f"{len(leaves)} {what}", visible(", ".join(short_names(names)), FORMULA_WIDTH))]
        if "gradients" in self.show and self.now.pass_ is not None:
            rows += self._sizes("|.grad|", [self.now.grad(self._tensor(leaf)) for leaf in leaves], "gradient")
        return rows

    def _roles(self, members: Sequence[int | TensorRef], *, without_number: bool = False) -> list[Row]:
        """A row for each kind of member, numbers aside: `layers[0].w` and `layers[1].w` have the same role.

        `without_number` also leaves the number out of `3.weight`.
        """
        names = short_names([self._name(one) for one in members])
        if without_number and all(_NUMBERED.match(name) for name in names):
            names = [_NUMBERED.sub("", name) for name in names]
        roles: dict[tuple[str, int], list[tuple[str, int | TensorRef]]] = {}
        for name, one in zip(names, members, strict=True):
            dimensions = len(self.now.recording.tensors[self._tensor(one)].shape)
            roles.setdefault((re.sub(r"\d+", "#", name), dimensions), []).append((name, one))
        rows = [
            self._role(span(role[0][0], role[-1][0]), [one for _, one in role])
            for role in list(roles.values())[:MOST_ROLES]
        ]
        more = len(roles) - MOST_ROLES
        return [*rows, Row("", f"… and {more} more kinds", "muted")] if more > 0 else rows

    def _role(self, name: str, members: Sequence[int | TensorRef]) -> Row:
        now = self.now
        tensors = [self._tensor(one) for one in members]
        shapes = list(dict.fromkeys(now.recording.tensors[tensor].shape for tensor in tensors))
        text = f"{len(members)} of {shape_words(shapes[0])}" if len(shapes) == 1 else f"{len(members)}, several shapes"
        named = visible(name, NAME_WIDTH) or "unnamed"
        found = history_end(now, members[0]) if isinstance(members[0], TensorRef) else None
        if found is not None:
            text += f"  ✂ {WORDS[found.crossed.kind]}"
        if not isinstance(members[0], int) or "gradients" not in self.show or now.pass_ is None:
            return Row(named, text)
        (row,) = self._sizes("", [now.grad(tensor) for tensor in tensors], "gradient")[:1]
        return Row(named, f"{text}  .grad {row.text}", row.tone)

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
