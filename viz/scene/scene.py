"""Decides what a picture shows: which nodes, which of them are folded, and the rank of each box.

Except for the folds that the focus opens, a scene does not depend on the step: all pictures of a film share one scene.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from microtape.recording.model.model import Recording, TensorRef
from microtape.recording.model.moment import Moment
from viz.basics.errors import DrawError, TooLargeError
from viz.basics.options import FEW, FOLD_ABOVE, MAX_BOXES, Detail, as_whole_number, as_words, details
from viz.planning.box_plan import BoxPlan, Key, make_box_plan
from viz.planning.dataflow import Cut, Use, find_uses
from viz.planning.display_names import usual_dtype
from viz.planning.folds import STRATEGIES, Fold, Item, by_scopes, folded
from viz.planning.group_contents import GroupContents
from viz.planning.open_folds import FoldView, Group, every_repetition, fold_view, open_more, opened
from viz.planning.ranks import above_clusters, assign_ranks
from viz.planning.selection import Selection, select_nodes, some_root
from viz.scene.failure import overwriters
from viz.scene.heading import note_advice, notes
from viz.scene.history_ends import find_cuts

FEW_USES = 4  # a leaf in focus opens the folds that use it only if it is used in at most this many places


@dataclass(frozen=True, eq=False, slots=True)
class Scene:
    """Everything about a picture that does not depend on how far backward has come."""

    selection: Selection
    shown: frozenset[Detail]
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
    fold: bool | None = None,
    open: str | Collection[str] = (),
    max_boxes: int = MAX_BOXES,
    focus: bool = True,
    few: int = FEW,
) -> Scene:
    """Decide what to draw. The arguments are those of `viz.draw`; `focus` keeps the nodes of the last step unfolded.

    Folds open by themselves as long as the picture has at most `few` boxes.

    Raises:
        DrawError: an argument is not valid for this recording.
        TooLargeError: there would be more than `max_boxes` boxes.
    """
    asked = as_words("open", open)
    radius, max_boxes = as_whole_number("radius", radius), as_whole_number("max_boxes", max_boxes)
    if around is not None and (asked or fold):
        raise DrawError("around= draws single nodes: leave out fold= and open=")
    selection = select_nodes(now, around, radius, max_boxes)
    uses = find_uses(now, selection.nodes, constants=True)
    cuts = find_cuts(now, frozenset(selection.nodes), _inputs(now, selection, uses))
    planner = _Planner(now.recording, selection.nodes, uses, tuple(cuts))
    if around is None and (fold or asked or (fold is None and len(selection.nodes) > FOLD_ABOVE)):
        items = _fold(planner, few)
        plan = planner.plan(_view(items, asked, _focus(now, selection, uses) if focus else (), planner, few))
        if len(plan.order) > max_boxes and not asked:
            plan = planner.plan(fold_view(items, set()))  # the folds that the focus opened took too many boxes
    else:
        items = tuple(node for node in selection.nodes if now.recording.nodes[node].variable is None)
        framed = folded(now.recording, selection.nodes, by_scopes) if around is None and fold is None else items
        plan = planner.plan(fold_view(framed, every_repetition(framed)))
    if len(plan.order) > max_boxes:
        raise TooLargeError(_too_large(now, selection, plan, items, asked, max_boxes))
    shown = details(show, len(plan.order))
    if "constants" not in shown:
        planner = planner.without_constants()
        plan = planner.plan(plan.view)
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
        plan,
        assign_ranks(plan.order, users, above_clusters(plan.order, users, plan.clusters)),
        GroupContents(now.timeline, planner.uses),
        usual_dtype(now.recording, tensors),
        {ref.tensor: ref for ref in reversed(operands)},
        (*selection.notes, *_folded_note(selection, plan), *notes(now, selection.nodes)),
        (*_advice(plan), *note_advice(now)),
    )


@dataclass(frozen=True, eq=False, slots=True)
class _Planner:
    """Plans the boxes of the same nodes with different folds open."""

    recording: Recording
    nodes: Sequence[int]
    uses: Sequence[Use]
    cuts: Sequence[Cut]

    def plan(self, view: FoldView) -> BoxPlan:
        return make_box_plan(self.recording, self.nodes, self.uses, view, self.cuts)

    def count(self, view: FoldView) -> int:
        """How many boxes the plan has."""
        return len(self.plan(view).order)

    def without_constants(self) -> _Planner:
        """The same, without boxes for tensors that need no gradient."""
        uses = [use for use in self.uses if isinstance(use.of, int)]
        cuts = [cut for cut in self.cuts if isinstance(cut.into, int)]
        return _Planner(self.recording, self.nodes, uses, cuts)


def _inputs(now: Moment, selection: Selection, uses: Sequence[Use]) -> dict[int | TensorRef, None]:
    """The leaves and the tensors that need no gradient, as an ordered set."""
    leaves = (node for node in selection.nodes if now.recording.nodes[node].variable is not None)
    return dict.fromkeys([*leaves, *(use.of for use in uses if isinstance(use.of, TensorRef))])


def _fold(planner: _Planner, few: int) -> tuple[Item, ...]:
    """The tape folded by the first strategy that leaves few boxes, or else by the one that leaves the fewest."""
    best: tuple[int, tuple[Item, ...]] | None = None
    for strategy in STRATEGIES:
        items = folded(planner.recording, planner.nodes, strategy)
        count = planner.count(fold_view(items, set()))
        if best is None or count < best[0]:
            best = count, items
        if count <= few:
            break
    assert best is not None
    return best[1]


def _view(
    items: tuple[Item, ...], asked: Sequence[str], focus: Collection[int], planner: _Planner, few: int
) -> FoldView:
    """Open the folds that were asked for; if none were, those in focus and as many others as fit."""
    first = opened(items, asked, focus)
    if asked:
        return fold_view(items, first)
    return open_more(items, first, planner.count, few)


def _focus(now: Moment, selection: Selection, uses: Sequence[Use]) -> set[int]:
    """The node of the current step and the nodes that overwrote its saved tensors; for a leaf, also its few users."""
    if now.current is None:
        return set()
    drawn = set(selection.nodes)
    found = {now.current.node, *overwriters(now)} & drawn
    leaves = {node for node in found if now.recording.nodes[node].variable is not None}
    users = [use.by for use in uses if use.of in leaves]
    return found.union(users) if len(users) <= FEW_USES else found


def _folded_note(selection: Selection, plan: BoxPlan) -> list[str]:
    return [f"{len(selection.nodes)} nodes in {len(plan.order)} boxes"] if _closed(plan) else []


def _advice(plan: BoxPlan) -> tuple[str, ...]:
    groups = _closed(plan)
    if not groups:
        return ()
    largest = max(groups, key=lambda group: group.stop - group.first)
    return (f"to unfold a box, give its name: open={_example(largest.fold, largest.first)}",)


def _closed(plan: BoxPlan) -> list[Group]:
    return [item for item in plan.view.items if isinstance(item, Group)]


def _example(fold: Fold, number: int) -> str:
    return f'"{fold.name}[{number}]"' if len(fold.times) > 1 else f'"{fold.name}"'


def _too_large(
    now: Moment, selection: Selection, plan: BoxPlan, items: Sequence[Item], asked: Sequence[str], max_boxes: int
) -> str:
    folds = [item for item in items if isinstance(item, Fold)]
    inside = f" in {len(plan.order)} boxes" if folds else ""
    ways = [f'draw the neighbourhood of one node with around="{some_root(now, selection.nodes)}", radius=3']
    if asked and folds:
        ways.insert(0, f"open one repetition with open={_example(folds[0], 0)}")
    elif not folds:
        ways.insert(0, "fold what repeats with fold=True")
    limit = f"the limit is max_boxes={max_boxes}"
    return (
        f"{len(selection.nodes)} nodes{inside} would not be readable in one picture ({limit}): "
        f"{', '.join(ways)}, or raise max_boxes="
    )
