"""Rows of a node's box for what it keeps for backward: saved tensors with their versions, and hooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from microtape.recording.model.formatting import format_value
from microtape.recording.model.model import HookCall, NodeRecord, SavedRecord, TensorRef, Value
from microtape.recording.moments.moment import Moment
from viz.basics.characters import visible
from viz.basics.graph import Row
from viz.planning.display_names import NAME_WIDTH, named_in_forward, saved_names, tensor_name

LIST_WIDTH = 36
MOST_SAVERS = 5  # named in a box


def saved_rows(now: Moment, node: NodeRecord, *, show: bool) -> list[Row]:
    """The saved tensors with their versions; an overwritten one gets its own row even without `show`."""
    fine, overwritten = [], []
    for one in node.saved:
        (own, name), version = saved_names(now, node, one), _version_now(now, node, one)
        text = f"{own}={name}" if own and not named_in_forward(now, node, one) else own or name
        if version == one.ref.version:
            fine.append(f"{text} v{version}" if version else text)
        else:
            overwritten.append(Row("saved", f"{text} v{one.ref.version}, now v{version} ✗", "alarm"))
    step = now.step_of(node.id)
    if fine and step is not None and step.freed:
        fine[-1] += "  freed"
    if node.id in now.recording.freed and not node.saved:
        fine.append("freed")
    lines = [", ".join(fine)] if len(", ".join(fine)) <= LIST_WIDTH else fine
    rows = [Row("saved", line) for line in lines if line] if show else []
    return [*rows, *overwritten]


def overwritten_saved(now: Moment) -> tuple[NodeRecord, str] | None:
    """The node at which backward would fail first because a tensor that it saved was overwritten, and its name."""
    for number in reversed(now.timeline.nodes):
        node = now.recording.nodes[number]
        for one in node.saved:
            if _version_now(now, node, one) != one.ref.version:
                return node, tensor_name(now, one.ref)
    return None


def _version_now(now: Moment, node: NodeRecord, saved: SavedRecord) -> int:
    """The version of a saved tensor at this moment, as far as the recording tells."""
    step = now.step_of(node.id)
    used = [use.version_now for use in step.saved if use.name == saved.name and use.ref == saved.ref] if step else []
    if used:
        return used[0]
    seen = now.recording.tensors[saved.ref.tensor].values if now.pass_ is None else ()
    return max(saved.ref.version, now.timeline.written.get(saved.ref.tensor, 0), *seen)


def saver_rows(now: Moment, ref: TensorRef | None) -> list[Row]:
    """The nodes that saved the same tensor, if there are several."""
    savers = now.timeline.savers.get(ref, ()) if ref is not None else ()
    if len(savers) < 2:
        return []
    more = f" and {len(savers) - MOST_SAVERS} more" if len(savers) > MOST_SAVERS else ""
    return [Row("saved by", ", ".join(f"%{node}" for node in savers[:MOST_SAVERS]) + more)]


def hook_rows(now: Moment, node: NodeRecord, tensors: Iterable[int]) -> list[Row]:
    """The hooks of the node and of these tensors and, once they have run, how they changed the gradient."""
    records = [now.recording.tensors[tensor] for tensor in tensors]
    names = [*node.hooks, *(name for one in records for name in one.hooks)]
    names += ["retain_grad()" for one in records if one.retains_grad and not one.is_leaf]
    step = now.step_of(node.id)
    rows = [Row("hooks", visible(", ".join(map(_short, names)), LIST_WIDTH))] if names else []
    return rows + _changes(step.hooks if step is not None else ())


def _changes(calls: Sequence[HookCall]) -> list[Row]:
    return [
        Row("", f"{_short(one.name)} changed {format_value(one.before, 14)} to {format_value(one.after, 14)}", "muted")
        for one in calls
        if one.after is not None and one.kind != "retain_grad" and not _same(one.before, one.after)
    ]


def _short(name: str) -> str:
    """A function's name without the functions around it."""
    return visible(name.rpartition("<locals>.")[2], NAME_WIDTH)


def _same(before: Value | None, after: Value | None) -> bool:
    if isinstance(before, np.ndarray) and isinstance(after, np.ndarray):
        kinds = before.dtype.kind + after.dtype.kind
        return np.array_equal(before, after, equal_nan=set(kinds) <= set("fc"))
    return type(before) is type(after) and before == after
