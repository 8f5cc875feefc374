"""Decides what a picture shows: which nodes, which of them are folded, and the rank of each box.

Except for the folds that the focus opens, a scene does not depend on the step: all pictures of a film share one scene.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from microtape.recording.model.model import TensorRef
from microtape.recording.moments.moment import Moment
from viz.basics.errors import DrawError, TooLargeError
from viz.basics.options import MAX_BOXES, UNASKED, Detail, Folding, as_whole_number, details
from viz.planning.box_plan import BoxPlan, Key, Planner
from viz.planning.choose_cut import choose_view
from viz.planning.dataflow import Use, find_uses
from viz.planning.display_names import usual_dtype
from viz.planning.fold_tree import Cut, FoldTree, FoldView, Group
from viz.planning.group_contents import GroupContents
from viz.planning.ranks import above_clusters, assign_ranks
from viz.planning.selection import Selection, select_nodes, some_root
from viz.scene.failure import overwriters
from viz.scene.findings import found_in
from viz.scene.heading import note_advice, notes
from viz.scene.history_ends import find_cuts

MOST_ADVISED = 1000  # boxes: Graphviz would need too long for more
MOST_CULPRITS = 3  # that are unfolded
FEW_USES = 4  # a leaf in focus opens the folds that use it only if it is used in at most this many places


@dataclass(frozen=True, eq=False, slots=True)
class Scene:
    """Everything about a picture that does not depend on how far backward has come."""

    selection: Selection
    shown: frozenset[Detail]
    planner: Planner
    plan: BoxPlan
    ranks: Mapping[Key, int]
    contents: GroupContents
    usual_dtype: str
    leaves: Mapping[int, TensorRef]  # each at the version in which it is used here
    notes: tuple[str, ...]
    advice: tuple[str, ...]


def make_scene(
    now: Moment,
    *,
    show: Collection[str] | None = None,
    around: int | str | None = None,
    radius: int = 2,
    folding: Folding = UNASKED,
    max_boxes: int = MAX_BOXES,
    focus: bool = True,
) -> Scene:
    """Decide what to draw. The arguments are those of `viz.draw`; `focus` keeps the nodes of the last step unfolded.

    If no folds were asked for, the culprit of the first error is unfolded as well.

    Raises:
        DrawError: an argument is not valid for this recording.
        TooLargeError: there would be more than `max_boxes` boxes.
    """
    radius, max_boxes = as_whole_number("radius", radius), as_whole_number("max_boxes", max_boxes)
    if around is not None and (folding.fold or folding.is_detailed):
        raise DrawError("around= draws single nodes: leave out fold=, depth=, open= and closed=")
    selection = select_nodes(now, around, radius, max_boxes)
    uses = find_uses(now, selection.nodes, constants=True)
    cuts = find_cuts(now, frozenset(selection.nodes), _inputs(now, selection, uses))
    planner = Planner(now.recording, selection.nodes, uses, tuple(cuts))
    if around is not None or folding.fold is False:
        plan = planner.plan(_unfolded(planner))
    else:
        focused = _focus(now, selection, uses) if focus else set()
        if not (folding.fold or folding.is_detailed):
            focused |= _wrong(now, selection)
        plan = planner.plan(choose_view(planner, folding, focused, min(folding.few, max_boxes)))
        if len(plan.order) > max_boxes and not folding.is_detailed:
            plan = planner.plan(choose_view(planner, replace(folding, fold=True), (), 0))
    if len(plan.order) > max_boxes:
        raise TooLargeError(_too_large(now, selection, plan, folding, max_boxes))
    advice = _advice(planner, plan, max_boxes)
    shown = details(show, len(plan.order))
    if "constants" not in shown:
        planner = planner.without_constants()
        plan = planner.plan(plan.view)
    return _scene(now, selection, shown, planner, plan, advice)


def reopened(now: Moment, scene: Scene, opened: Cut) -> Scene:
    """The same scene with these folds open."""
    plan = scene.planner.plan(scene.plan.view.tree.view(opened))
    return _scene(now, scene.selection, scene.shown, scene.planner, plan, ())


def _scene(
    now: Moment,
    selection: Selection,
    shown: frozenset[Detail],
    planner: Planner,
    plan: BoxPlan,
    advice: Sequence[str],
) -> Scene:
    users: dict[Key, list[Key]] = {}
    for link in plan.links:
        users.setdefault(link.tail, []).append(link.head)
    nodes = [now.recording.nodes[node] for node in selection.nodes]
    operands = [op.ref for node in nodes for op in node.operands if op.ref is not None]
    tensors = {ref.tensor for ref in operands}
    tensors.update(ref.tensor for node in nodes for ref in node.outputs if ref is not None)
    return Scene(
        selection,
        shown,
        planner,
        plan,
        assign_ranks(plan.order, users, above_clusters(plan.order, users, plan.clusters)),
        GroupContents(now.timeline, planner.uses, plan.leaves),
        usual_dtype(now.recording, tensors),
        {ref.tensor: ref for ref in reversed(operands)},
        (*selection.notes, *_folded_note(selection, plan), *notes(now, selection.nodes)),
        (*advice, *note_advice(now)),
    )


def _inputs(now: Moment, selection: Selection, uses: Sequence[Use]) -> dict[int | TensorRef, None]:
    """The leaves and the tensors that need no gradient, as an ordered set."""
    leaves = (node for node in selection.nodes if now.recording.nodes[node].variable is not None)
    return dict.fromkeys([*leaves, *(use.of for use in uses if isinstance(use.of, TensorRef))])


def _focus(now: Moment, selection: Selection, uses: Sequence[Use]) -> set[int]:
    """The node of the current step and the nodes that overwrote its saved tensors; for a leaf, also its few users."""
    if now.current is None:
        return set()
    drawn = set(selection.nodes)
    found = {now.current.node, *overwriters(now)} & drawn
    leaves = {node for node in found if now.recording.nodes[node].variable is not None}
    users = [use.by for use in uses if use.of in leaves]
    return found.union(users) if len(users) <= FEW_USES else found


def _wrong(now: Moment, selection: Selection) -> set[int]:
    """The culprits of the first error, if they are few: a closed box would hide what the picture is about."""
    first = next((one for one in found_in(now) if one.severity == "error"), None)
    culprits = set(first.culprits).intersection(selection.nodes) if first is not None else set()
    return culprits if len(culprits) <= MOST_CULPRITS else set()


def _folded_note(selection: Selection, plan: BoxPlan) -> list[str]:
    return [f"{len(selection.nodes)} nodes in {len(plan.order)} boxes"] if plan.view.groups else []


def _unfolded(planner: Planner) -> FoldView:
    """Every node by itself, without frames."""
    return FoldTree([node for node in planner.nodes if planner.recording.nodes[node].variable is None]).view(())


def _advice(planner: Planner, plan: BoxPlan, max_boxes: int) -> tuple[str, ...]:
    """How to see more of a folded picture."""
    groups = plan.view.groups
    if not groups:
        return ()
    more = f'to open a box, give its name: open="{_example(plan.view)}"'
    if len(planner.nodes) <= MOST_ADVISED and (every := planner.count(_unfolded(planner))) <= MOST_ADVISED:
        limit = f", max_boxes={every}" if every > max_boxes else ""
        more += f"; fold=False{limit} shows all {every} boxes"
    return (more,)


def _example(view: FoldView) -> str:
    """The name that opens the largest box or, if it stands for several repetitions, the first of them."""
    largest = max(view.groups, key=lambda group: sum(map(len, group.nodes)))
    first = Group(largest.fold, largest.first, largest.first + 1)
    is_unique = sum(group.fold.name == largest.fold.name for group in view.groups) == 1
    return first.name if is_unique else view.tree.path(first)


def _too_large(now: Moment, selection: Selection, plan: BoxPlan, folding: Folding, max_boxes: int) -> str:
    folds = plan.view.tree.folds
    inside = f" in {len(plan.order)} boxes" if folds else ""
    ways = [f'draw the neighbourhood of one node with around="{some_root(now, selection.nodes)}", radius=3']
    if folding.depth:
        ways.insert(0, f"open fewer levels with depth={folding.depth - 1}")
    elif folding.open:
        ways.insert(0, f'open one repetition with open="{folds[0].label(0, 1)}"')
    elif folding.fold is False:
        ways.insert(0, "fold what repeats with fold=True")
    limit = f"the limit is max_boxes={max_boxes}"
    return (
        f"{len(selection.nodes)} nodes{inside} would not be readable in one picture ({limit}): "
        f"{', '.join(ways)}, or raise max_boxes="
    )
