"""Paths that end in a result without a derivative, such as an argmax that the loss does not use: drawn to their end."""

from __future__ import annotations

from collections.abc import Mapping

from microtape.recording.model.cut_history import way_back
from microtape.recording.model.model import BorderRecord, TensorRef
from microtape.recording.model.undifferentiable import why_border
from microtape.recording.moments.moment import Moment
from viz.basics.characters import visible
from viz.basics.graph import Arrow, Box, Row
from viz.basics.options import SMALL
from viz.planning.box_plan import BoxPlan, Key
from viz.planning.display_names import location, shape_words
from viz.scene.history_ends import border_title, history_end
from viz.scene.value_rows import value_row

MOST_ENDS = 6


def dead_ends(now: Moment, plan: BoxPlan, boxes: Mapping[Key, Box]) -> tuple[list[Box], list[Arrow]]:
    """A box for each end, below the value that it was computed from; none in a large picture."""
    ends, arrows = list[Box](), list[Arrow]()
    if len(boxes) > SMALL:
        return ends, arrows
    named = [(one, ref) for one in now.recording.borders for ref in one.outputs[:1] if _is_end(now, one, ref)]
    if not named:
        return ends, arrows
    by_output = now.timeline.borders
    drawn = (border for ref, border in by_output.items() if ref in plan.key_of)
    used = {one.outputs for border in drawn for one in way_back(border, by_output)}
    for border, ref in named:
        if border.outputs in used or len(ends) == MOST_ENDS:
            continue
        found = history_end(now, ref)
        makers = [now.timeline.producer.get(one, (None, 0)) for one in (found.sources if found is not None else ())]
        keys = dict.fromkeys(plan.key_of[maker] for maker, _ in makers if maker is not None and maker in plan.key_of)
        if not keys:
            continue
        box = _box(now, border, ref, 1 + max(boxes[key].rank for key in keys))
        ends.append(box)
        arrows += [
            Arrow(boxes[key].id, None, box.id, "border", "✂", True, f"{box.title}: no gradient comes back from here")
            for key in keys
        ]
    return ends, arrows


def _is_end(now: Moment, border: BorderRecord, ref: TensorRef) -> bool:
    """Whether it is a named result without a derivative that was computed for the pass that is drawn."""
    first = now.recording.passes[now.timeline.pass_index - 1].tape if now.timeline.pass_index else 0
    last = now.pass_.tape if now.pass_ is not None else len(now.recording.nodes)
    named = bool(now.recording.tensors[ref.tensor].name)
    return border.kind == "not differentiable" and named and first < border.tape <= last


def _box(now: Moment, border: BorderRecord, ref: TensorRef, rank: int) -> Box:
    why, tensor = why_border(now.recording, border), now.recording.tensors[ref.tensor]
    place = f", {location(now.recording, border.place)}" if border.place is not None else ""
    rows = [Row("", f"⊣ {visible(why, 48)}{place}", "muted")]
    value = now.recording.value(ref)
    rows += [value_row("value", value)] if value is not None else []
    title = border_title(now, ref, border)
    return Box(f"t{ref.tensor}v{ref.version}", "border", "", title, f"{shape_words(tensor.shape)} {tensor.dtype}",
               tuple(rows), (), (f"{title}: {why}, so no gradient comes back from here",), rank, None)  # fmt: skip
