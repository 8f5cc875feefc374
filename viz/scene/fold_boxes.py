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
from viz.planning.display_names import NAME_WIDTH, code_at, location, operation_title, shape_words, tensor_name
from viz.planning.folds import Item
from viz.planning.group_contents import GroupContents, Members
from viz.planning.open_folds import Group
from viz.planning.sparkline import sparkline
from viz.scene.boxes import FORMULA_WIDTH, NO_GRADIENT
from viz.scene.history_ends import WORDS, history_end
from viz.scene.value_rows import VALUE_WIDTH

MOST_ROLES = 6


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
        if state == "partly" or (state in ("current", "receiving") and done):
            rows.append(Row("done", f"{done} of {len(members.nodes)} operations", "muted"))
        return Box(
            id=group.id,
            kind="fold",
            state=state,
            title=_title(group),
            note=_each(group.nodes),
            rows=tuple(rows),
            ports=(),
            tooltip=self._tooltip(group, members.nodes),
            rank=rank,
            node=None,
            recorded_in=members.recorded_in,
            clusters=self.plan.clusters.get(group, ()),
        )

    def inputs(self, group: InputGroup, rank: int) -> Box:
        """The box of a group of leaves or of constants."""
        leaves = self.contents.members(group)
        roles = self._roles(group.members)
        of = " and ".join(user.name for user in group.of[:2])
        rows = self._culprits(leaves)
        rows += [self._role(role) for role in roles[:MOST_ROLES]]
        if len(roles) > MOST_ROLES:
            rows.append(Row("", f"… and {len(roles) - MOST_ROLES} more kinds", "muted"))
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
        text = f"{self.culprits[node.id].text} in {name or f'%{node.id}'}{more}"
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
        return f"{item.name} ×{len(item.times)}" if len(item.times) > 1 else item.name

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

    def _roles(self, members: Sequence[int | TensorRef]) -> list[list[int | TensorRef]]:
        """The members grouped by name, numbers aside: `layers[0].w` and `layers[1].w` have the same role."""
        found: dict[tuple[str, int], list[int | TensorRef]] = {}
        for one in members:
            dimensions = len(self.now.recording.tensors[self._tensor(one)].shape)
            found.setdefault((re.sub(r"\d+", "#", self._name(one)), dimensions), []).append(one)
        return list(found.values())

    def _role(self, members: Sequence[int | TensorRef]) -> Row:
        now = self.now
        tensors = [self._tensor(one) for one in members]
        shapes = list(dict.fromkeys(now.recording.tensors[tensor].shape for tensor in tensors))
        text = f"{len(members)} of {shape_words(shapes[0])}" if len(shapes) == 1 else f"{len(members)}, several shapes"
        named = span(self._name(members[0]), self._name(members[-1])) or "unnamed"
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
        return visible(self.now.recording.tensors[self._tensor(one)].name, NAME_WIDTH)

    def _tooltip(self, group: Group, nodes: Sequence[int]) -> tuple[str, ...]:
        fold = group.fold
        one = group.stop - 1
        return (
            f"{group.name}: {group.stop - group.first} of {len(fold.times)} repetitions, %{nodes[0]} to %{nodes[-1]}",
            "|value| and |grad| are root mean squares of each repetition's result, first to last, on a log scale",
            f'open="{fold.name}" opens all repetitions, open="{fold.name}[{one}]" opens one',
        )


def span(first: str, last: str) -> str:
    """`w[0…19]` for `w[0]` and `w[19]`."""
    one, other = re.split(r"(\d+)", first), re.split(r"(\d+)", last)
    if len(one) != len(other) or one[::2] != other[::2]:
        return f"{first} … {last}"
    return "".join(a if a == b else f"{a}…{b}" for a, b in zip(one, other, strict=True))


def _title(group: Group) -> str:
    times = group.stop - group.first
    return group.name if times == len(group.fold.times) == 1 else f"{group.name} ×{times}"


def _each(times: Sequence[Sequence[int]]) -> str:
    counts = sorted({len(each) for each in times})
    if len(times) == 1:
        return f"{counts[0]} operation{'s' * (counts[0] != 1)}"
    if len(counts) == 1:
        return f"{counts[0]} operation{'s' * (counts[0] != 1)} each"
    return f"{counts[0]} to {counts[-1]} operations each"
