"""Builds the `VisualGraph` of what ran inside of a node, after some of its steps. Pure."""

from __future__ import annotations

from collections.abc import Collection

from microtape.recording.model.model import Recording, TensorRef
from viz.basics.characters import visible
from viz.basics.errors import DrawError, TooLargeError
from viz.basics.graph import LINE_WIDTH, Arrow, Box, VisualGraph
from viz.basics.options import MAX_BOXES, as_whole_number, details
from viz.insides.inner_arrows import Flow, FlowFinder, Source
from viz.insides.inner_boxes import InnerBoxMaker
from viz.insides.inner_names import InnerNames
from viz.insides.walk import InnerStep, Insides, find_insides
from viz.planning.display_names import NAME_WIDTH, location, operation_title
from viz.planning.find_moment import find_moment
from viz.scene.legend import inside_legend


def build_inside(
    recording: Recording,
    into: int | str,
    *,
    step: int | None = None,
    pass_index: int = 0,
    show: Collection[str] | None = None,
    max_boxes: int = MAX_BOXES,
) -> VisualGraph:
    """The picture's contents. For the arguments and the errors raised, see `viz.draw`."""
    find_moment(recording, pass_index, None)  # for its errors
    return inside_picture(find_insides(recording, into, pass_index), step, show, max_boxes)


def inside_picture(
    insides: Insides, done: int | None, show: Collection[str] | None = None, max_boxes: int = MAX_BOXES
) -> VisualGraph:
    """The insides after `done` steps; None is the end, with no current step.

    Raises:
        DrawError: there is no such step, or `show` contains an unknown word.
        TooLargeError: there would be more than `max_boxes` boxes.
    """
    count = len(insides.steps)
    if done is not None and not 0 <= (done := as_whole_number("step", done)) <= count:
        raise DrawError(f"there is no step {done}: {count} steps ran inside, so step= takes 0 to {count}")
    if count > max_boxes:
        raise TooLargeError(
            f"{count} steps that ran inside would not be readable in one picture (the limit is max_boxes={max_boxes}): "
            "raise max_boxes="
        )
    now = find_moment(insides.recording, insides.pass_index, None)
    flow = FlowFinder(insides.recording)
    flow.follow(insides)
    outside = {(one.source, one.head) for one in flow.flows if isinstance(one.source, TensorRef)}
    shown = details(show, count + len(outside))
    maker = InnerBoxMaker(now, shown, InnerNames(now, insides), done)
    boxes: dict[str, Box] = {}
    arrows = []
    for one in insides.steps:
        box = maker.box(one, flow.ranks[one.number])
        used = [two for two in flow.flows if two.head == one.number]
        for two in used:
            if isinstance(two.source, TensorRef):
                made = maker.constant(two.source, one, box.rank - 1)
                boxes.setdefault(made.id, made)
        boxes[box.id] = box
        arrows += [_arrow(two, one, boxes) for two in used]
    every = tuple(boxes.values())
    return VisualGraph(
        title=_title(insides),
        subtitle=visible(_subtitle(insides, done), LINE_WIDTH),
        boxes=every,
        arrows=tuple(arrows),
        legend=inside_legend(every, arrows) if "legend" in shown else (),
        notes=tuple(_notes(insides)),
    )


def _arrow(flow: Flow, head: InnerStep, boxes: dict[str, Box]) -> Arrow:
    box = boxes[f"i{flow.head}"]
    into = flow.port if flow.port is not None and flow.port < len(box.ports) else None
    if isinstance(flow.source, Source):
        tail = boxes[f"i{flow.source.step}"]
        port = flow.source.port if flow.source.port is not None and flow.source.port < len(tail.ports) else None
        if tail.ports_on_top:
            port = None  # the arrow would run through the box
    else:
        tail, port = boxes[f"i{head.number}t{flow.source.tensor}v{flow.source.version}"], None
    about = {
        "next": f"then {box.title} ran",
        "value": f"saved for backward, and unpacked in {box.title}",
        "note": "the error was raised here",
    }.get(flow.kind, f"{box.title} uses {tail.title}")
    saved = flow.kind == "value"
    return Arrow(tail.id, port, box.id, flow.kind, "saved" if saved else "", saved, about, aside=saved, head_port=into)


def _title(insides: Insides) -> str:
    name = visible(insides.recording.title, 60)
    if insides.node is None:
        return f"{name}: inside of {visible(insides.name, 2 * NAME_WIDTH)}"
    node = insides.recording.nodes[insides.node]
    now = find_moment(insides.recording, insides.pass_index, None)
    label = visible(insides.recording.label(node.id), NAME_WIDTH)
    what = label if node.variable is not None else operation_title(now, node)
    place = f" at {location(insides.recording, node.place)}" if node.place is not None else ""
    return f"{name}: inside of {what if what.startswith('%') else f'%{node.id} {what}'}{place}"


def _subtitle(insides: Insides, done: int | None) -> str:
    count, calls = len(insides.steps), {one.call.id for one in insides.steps}
    if done is None:
        return f"{count} steps in {len(calls)} call{'s' * (len(calls) != 1)} of your functions"
    if not done:
        return f"before step 1 of {count}"
    one = insides.steps[done - 1]
    place = f", {location(insides.recording, one.step.place)}" if one.step.place is not None else ""
    return f"after step {done} of {count}: {one.call.name.rpartition('<locals>.')[2]}{place}"


def _notes(insides: Insides) -> list[str]:
    left_out = {one.call.id: one.call.left_out for one in insides.steps if one.call.left_out}
    return [f"{sum(left_out.values())} steps of long calls were not recorded"] if left_out else []
