"""Chooses the cut through the tree of folds that a picture shows: what was asked for, or an overview."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import itemgetter

from viz.basics.errors import DrawError
from viz.basics.options import FEW, Folding
from viz.planning.box_plan import Planner
from viz.planning.fold import Fold
from viz.planning.fold_names import find_named
from viz.planning.fold_tree import Cut, FoldTree, FoldView, Repetition
from viz.planning.folds import STRATEGIES, Strategy, by_lines, folded
from viz.planning.overview import STRUCTURE, overview

WORTH_A_FRAME = 3  # operations: a frame around the one or two of a single call would say nothing


def choose_view(planner: Planner, folding: Folding, focus: Collection[int], few: int) -> FoldView:
    """The cut to draw. The nodes in `focus` are not folded; of what was not asked for, at most `few` boxes open.

    Raises:
        DrawError: the user named a fold that there is not, or opened and closed the same one.
    """
    tree = fold_tree(planner)
    closed = _closed(tree, folding)
    if not (folding.fold or folding.open or folding.depth is not None):
        unfolded = tree.view(tree.down_to() - closed, _is_worth_a_frame)
        if not tree.folds or (len(planner.nodes) <= few and planner.count(unfolded) <= few):
            return unfolded
    cut = tree.down_to(folding.depth) if folding.depth is not None else overview(tree, planner.count, few, closed)
    cut = _with_asked(tree, cut, folding.open)
    cut = _with_more(cut, {one for node in focus for one in tree.around(node)})
    return tree.view(cut - closed)


def fold_tree(planner: Planner) -> FoldTree:
    """The tape folded by the first strategy that leaves few boxes, or else by the one that leaves the fewest.

    It does not depend on options, so that names mean the same in every picture of a pass. In a program with scopes,
    lines are folded as well if there is no room for the structure of scopes.
    """

    def tried(strategy: Strategy) -> tuple[int, FoldTree]:
        tree = FoldTree(folded(planner.recording, planner.nodes, strategy))
        return planner.count(tree.view(())), tree

    best = tried(STRATEGIES[0])
    for strategy in STRATEGIES[1:]:
        if best[0] <= FEW:
            break
        best = min(best, tried(strategy), key=itemgetter(0))
    if best[0] > STRUCTURE and any(fold.kind == "scope" for fold in best[1].folds):
        best = min(best, tried(by_lines), key=itemgetter(0))
    return best[1]


def _is_worth_a_frame(fold: Fold) -> bool:
    """Whether a picture in which nothing is folded frames it."""
    return fold.kind == "scope" and max(map(len, fold.nodes)) >= WORTH_A_FRAME


def _with_more(cut: Cut, wanted: Cut) -> set[Repetition]:
    """The cut with these repetitions open as well, in place of others of the same folds."""
    concerned = {fold for fold, _ in wanted}
    return {one for one in cut if one[0] not in concerned}.union(wanted)


def _with_asked(tree: FoldTree, cut: Cut, asked: Sequence[str]) -> set[Repetition]:
    """The cut with the folds open that the user asked for, in place of other repetitions of the same folds.

    A name that means something in several places is opened where it can be seen; if it can be seen nowhere, in the last
    place.
    """
    opened, wanted = set(cut), set[Repetition]()
    pending = sorted((find_named(tree, name) for name in asked), key=lambda places: len(places[0].around))
    while pending:
        seen = next((places for places in pending if any(opened.issuperset(one.around) for one in places)), pending[0])
        pending.remove(seen)
        for place in [one for one in seen if opened.issuperset(one.around)] or seen[-1:]:
            wanted |= place.opened.union(place.around)
        opened = _with_more(cut, wanted)
    return opened


def _closed(tree: FoldTree, folding: Folding) -> set[Repetition]:
    """What the user wants closed. Raises DrawError if it hides all of something that the user wants open."""
    closed = {one for name in folding.closed for place in find_named(tree, name) for one in place.meant}
    for name in folding.open if closed else ():
        paths = [(*place.around, *path) for place in find_named(tree, name) for path in place.paths]
        if all(not closed.isdisjoint(path) for path in paths):
            raise DrawError(f'open="{name}" cannot be seen: closed= closes it, or what is around it')
    return closed
