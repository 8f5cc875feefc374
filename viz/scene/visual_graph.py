"""Builds the `VisualGraph` of a recording at a moment: its boxes, arrows and texts. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from microtape.basics.collector import paused
from microtape.recording.model.formatting import format_value
from microtape.recording.model.model import Recording, TensorRef
from microtape.recording.moments.moment import Moment, PassTimeline
from viz.basics.graph import Arrow, ArrowKind, Box, VisualGraph
from viz.basics.options import FEW, MAX_BOXES, Folding
from viz.planning.box_plan import InputGroup, Key
from viz.planning.display_names import location
from viz.planning.find_moment import find_moment
from viz.planning.fold_tree import Group
from viz.scene.arrows import TERM_WIDTH, make_arrows
from viz.scene.boxes import BoxMaker
from viz.scene.callouts import callouts
from viz.scene.dead_ends import dead_ends
from viz.scene.findings import culprit_rows, finding_text
from viz.scene.fold_boxes import FoldBoxMaker
from viz.scene.heading import subtitle, title
from viz.scene.legend import legend
from viz.scene.scene import Scene, make_scene
from viz.scene.write_rows import overwriting_arrows


def build_graph(
    recording: Recording,
    *,
    step: int | None = None,
    pass_index: int = 0,
    show: Collection[str] | None = None,
    around: int | str | None = None,
    radius: int = 2,
    fold: bool | None = None,
    depth: int | None = None,
    open: str | Collection[str] = (),
    closed: str | Collection[str] = (),
    max_boxes: int = MAX_BOXES,
    few: int = FEW,
) -> VisualGraph:
    """The picture's contents. For the arguments and the errors raised, see `viz.draw`; for `few`, `Folding`."""
    folding = Folding.asked(fold, depth, open, closed, few)
    with paused():
        now = find_moment(recording, pass_index, step)
        scene = make_scene(now, show=show, around=around, radius=radius, folding=folding, max_boxes=max_boxes)
        return picture(now, scene)


def picture(now: Moment, scene: Scene) -> VisualGraph:
    """The scene at that moment."""
    return _picture(now, scene, _boxes(now, scene, scene.plan.order))


def pictures(timeline: PassTimeline, scene: Scene, first: int = 0, last: int | None = None) -> Iterator[VisualGraph]:
    """The scene after `first` to `last` steps, as from `picture`. Unchanged boxes stay the same objects."""
    boxes = _boxes(timeline.at(first), scene, scene.plan.order)
    yield _picture(timeline.at(first), scene, boxes)
    for done in range(first + 1, (len(timeline.steps) if last is None else last) + 1):
        newly_wrong = culprit_rows(timeline.at(done)).keys() ^ culprit_rows(timeline.at(done - 1)).keys()
        touched = {scene.plan.key_of.get(node) for node in timeline.touched(done) | newly_wrong}
        boxes = boxes | _boxes(timeline.at(done), scene, [key for key in boxes if key in touched])
        yield _picture(timeline.at(done), scene, boxes)


def _picture(now: Moment, scene: Scene, boxes: dict[Key, Box]) -> VisualGraph:
    again, arrows = make_arrows(now, scene.plan, scene.ranks, boxes, scene.shown, scene.contents)
    seeds, seed_arrows = _seeds(now, scene, boxes)
    called_out, callout_arrows = callouts(now, scene.plan, scene.ranks, boxes, scene.shown)
    ends, end_arrows = dead_ends(now, scene.plan, boxes) if "constants" in scene.shown else ([], [])
    overwriting = overwriting_arrows(now, scene.plan, boxes, callout_arrows)
    every = (*boxes.values(), *again, *ends, *seeds, *called_out)
    every_arrow = (*arrows, *end_arrows, *seed_arrows, *callout_arrows, *overwriting)
    return VisualGraph(
        title=title(now),
        subtitle=subtitle(now),
        boxes=every,
        arrows=every_arrow,
        legend=legend(every, every_arrow, watched=not now.recording.options.get("snapshot"))
        if "legend" in scene.shown
        else (),
        notes=scene.notes,
        advice=scene.advice,
        finding=finding_text(now),
    )


def _boxes(now: Moment, scene: Scene, keys: Iterable[Key]) -> dict[Key, Box]:
    plan, ranks = scene.plan, scene.ranks
    culprits = culprit_rows(now)
    maker = BoxMaker(now, scene.shown, scene.usual_dtype, scene.leaves, culprits)
    folds = FoldBoxMaker(now, scene.shown, plan, scene.contents, culprits)
    boxes: dict[Key, Box] = {}
    for key in keys:
        if isinstance(key, Group):
            boxes[key] = folds.group(key, ranks[key])
        elif isinstance(key, InputGroup):
            boxes[key] = folds.inputs(key, ranks[key])
        else:
            made = (
                maker.constant(key, ranks[key])
                if isinstance(key, TensorRef)
                else maker.node(key, ranks[key], scene.selection.hidden.get(key, 0))
            )
            boxes[key] = replace(made, clusters=plan.clusters.get(key, ()), in_the_middle=key == scene.selection.middle)
    return boxes


def _seeds(now: Moment, scene: Scene, boxes: dict[Key, Box]) -> tuple[list[Box], list[Arrow]]:
    """The calls of backward, below the outputs that they start from."""
    found, arrows = [], []
    for number, ((node, output), seed) in enumerate(now.timeline.seeds.items()):
        key = scene.plan.key_of.get(node)
        if key is None:
            continue
        text = format_value(seed, TERM_WIDTH)
        pass_ = now.pass_
        place = location(now.recording, pass_.place) if pass_ and pass_.place else ""
        title = f"{pass_.kind}()" if pass_ else ""
        found.append(
            Box(f"s{number}", "seed", "", title, place, (), (),
                (f"the first gradient, {text}: backward starts here",), scene.ranks[key] + 1, None)
        )  # fmt: skip
        kind: ArrowKind = "now" if now.pass_ and not now.steps_done else "done"
        port = output if output < len(boxes[key].ports) else None
        arrows.append(Arrow(boxes[key].id, port, f"s{number}", kind, text, True, f"the first gradient: {text}"))
    return found, arrows
