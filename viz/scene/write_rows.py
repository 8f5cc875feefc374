"""Writes in place: what was overwritten, who had saved it, and arrows to the nodes that will miss it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from weakref import WeakKeyDictionary

from microtape.recording.model.model import NodeRecord
from microtape.recording.model.versions import Versions
from microtape.recording.moments.moment import Moment, PassTimeline
from viz.basics.graph import Arrow, Box, Row
from viz.planning.box_plan import BoxPlan, Key
from viz.planning.display_names import tensor_name
from viz.scene.value_rows import value_row

MOST_SAVERS = 4  # named in a box

_versions: WeakKeyDictionary[PassTimeline, Versions] = WeakKeyDictionary()


def write_rows(now: Moment, node: NodeRecord, *, values: bool) -> list[Row]:
    """The old value of what a node wrote over, and the nodes that had saved it."""
    rows, versions = [], _versions_of(now)
    for write in versions.by_node.get(node.id, ()):
        before, _ = versions.change(write)
        if values and before is not None:
            rows.append(value_row("before", before))
        savers = versions.overwritten(write)
        for saver in savers[:MOST_SAVERS]:
            if saver.fate == "lost":
                rows.append(Row("", f"✗ %{saver.node} had saved v{saver.ref.version}, and will miss it", "alarm"))
            else:
                done = "does not need it" if saver.fate == "unused" else "had used it before"
                rows.append(Row("", f"%{saver.node} had saved v{saver.ref.version}, but {done}", "muted"))
        if len(savers) > MOST_SAVERS:
            rows.append(Row("", f"… and {len(savers) - MOST_SAVERS} more nodes had saved it", "muted"))
    return rows


def overwriting_arrows(now: Moment, plan: BoxPlan, boxes: Mapping[Key, Box], known: Collection[Arrow]) -> list[Arrow]:
    """An arrow from each write to each node that will miss what was overwritten, unless it is `known` already."""
    versions, found = _versions_of(now), []
    ends = {(one.tail, one.head) for one in known}
    for writer, writes in versions.by_node.items():
        if writer not in plan.key_of or not now.is_there(writer):
            continue
        for write in writes:
            for saver in versions.overwritten(write):
                if saver.fate != "lost" or saver.node not in plan.key_of:
                    continue
                tail, head = boxes[plan.key_of[writer]].id, boxes[plan.key_of[saver.node]].id
                if tail != head and (tail, head) not in ends:
                    ends.add((tail, head))
                    label = f"overwrote {tensor_name(now, saver.ref)}"
                    about = f"%{writer} {label}, which %{saver.node} had saved at version {saver.ref.version}"
                    found.append(Arrow(tail, None, head, "overwrote", label, True, about, aside=True))
    return found


def _versions_of(now: Moment) -> Versions:
    """The versions of a recording, worked out once for all pictures of a pass."""
    if now.timeline not in _versions:
        _versions[now.timeline] = Versions(now.recording)
    return _versions[now.timeline]
