"""What a picture is of: which nodes, what of them is folded, and in which layers the boxes stand.

A scene does not depend on the step, but for what is in focus, so that the pictures of a film can share one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from microtape.recording.model.model import TensorRef
from microtape.recording.model.moment import Moment
from viz.basics.errors import DrawError, TooLargeError
from viz.basics.options import FEW, FOLD_ABOVE, MAX_BOXES, Detail, details, whole, words
from viz.planning.extent import Extent, extent, some_root
from viz.planning.folds import WAYS, Fold, Item, folded
from viz.planning.members import Repetitions
from viz.planning.naming import usual_dtype
from viz.planning.open_folds import Group, Sight, open_more, opened, sight
from viz.planning.plan import Key, Plan, make_plan
from viz.planning.ranks import layers
from viz.planning.uses import Use, find_uses
from viz.scene.borders import find_cuts
from viz.scene.failure import overwriters
from viz.scene.heading import notes

FEW_USES = 4  # a leaf used in more places is no reason to open one of them


@dataclass(frozen=True, eq=False, slots=True)
class Scene:
    """Everything about a picture but what has happened so far."""

    extent: Extent
    shown: frozenset[Detail]
    plan: Plan
    ranks: Mapping[Key, int]
    repetitions: Repetitions
    usual_dtype: str
    leaves: Mapping[int, TensorRef]  # each at the version in which it is used here
    notes: tuple[str, ...]


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
) -> Scene:
    """Decide what to draw. The arguments are those of `viz.draw`; with `focus`, what has just happened is not folded.

    Raises:
        DrawError: an argument makes no sense here.
        TooLargeError: there would be more than `max_boxes` boxes.
    """
    asked, radius, max_boxes = words("open", open), whole("radius", radius), whole("max_boxes", max_boxes)
    if around is not None and (asked or fold):
        raise DrawError("around= draws single nodes: leave out fold= and open=")
    which = extent(now, around, radius, max_boxes)
    uses = find_uses(now, which.nodes, constants=True)

    cuts = list(find_cuts(now, frozenset(which.nodes), _inputs(now, which, uses)))

    def plan_of(seen: Sight) -> Plan:
        return make_plan(now.recording, which.nodes, uses, seen, cuts)

    if around is None and (fold or asked or (fold is None and len(which.nodes) > FOLD_ABOVE)):
        items = _items(now, which, plan_of)
        plan = plan_of(_sight(items, asked, _focus(now, which, uses) if focus else (), plan_of))
        if len(plan.order) > max_boxes and not asked:
            plan = plan_of(sight(items, set()))  # what is in focus is too large to be opened
    else:
        items = tuple(node for node in which.nodes if now.recording.nodes[node].variable is None)
        plan = plan_of(sight(items, set()))
    if len(plan.order) > max_boxes:
        raise TooLargeError(_too_large(now, which, plan, items, asked, max_boxes))
    shown = details(show, len(plan.order))
    if "constants" not in shown:
        uses = [use for use in uses if isinstance(use.of, int)]
        cuts = [cut for cut in cuts if isinstance(cut.into, int)]
        plan = plan_of(plan.sight)
    users: dict[Key, list[Key]] = {}
    for link in plan.links:
        users.setdefault(link.tail, []).append(link.head)
    nodes = [now.recording.nodes[node] for node in which.nodes]
    operands = [op.ref for node in nodes for op in node.operands if op.ref is not None]
    tensors = {ref.tensor for ref in operands}
    tensors.update(ref.tensor for node in nodes for ref in node.outputs if ref is not None)
    return Scene(
        which,
        shown,
        plan,
        layers(plan.order, users),
        Repetitions(now.timeline, uses),
        usual_dtype(now.recording, tensors),
        {ref.tensor: ref for ref in reversed(operands)},
        (*which.notes, *_folded_note(which, plan), *notes(now, which.nodes)),
    )


def _inputs(now: Moment, which: Extent, uses: Sequence[Use]) -> dict[int | TensorRef, None]:
    """The leaves, and the tensors that need no gradient."""
    leaves = (node for node in which.nodes if now.recording.nodes[node].variable is not None)
    return dict.fromkeys([*leaves, *(use.of for use in uses if isinstance(use.of, TensorRef))])


def _items(now: Moment, which: Extent, plan_of: Callable[[Sight], Plan]) -> tuple[Item, ...]:
    """The tape with what repeats folded, by the first way that leaves few boxes, or by the one that leaves fewest."""
    best: tuple[int, tuple[Item, ...]] | None = None
    for way in WAYS:
        items = folded(now.recording, which.nodes, way)
        count = len(plan_of(sight(items, set())).order)
        if best is None or count < best[0]:
            best = count, items
        if count <= FEW:
            break
    assert best is not None
    return best[1]


def _sight(
    items: tuple[Item, ...], asked: Sequence[str], focus: Collection[int], plan_of: Callable[[Sight], Plan]
) -> Sight:
    """What was asked for; else what is in focus, and of the rest what fits."""
    first = opened(items, asked, focus)
    if asked:
        return sight(items, first)
    return open_more(items, first, lambda seen: len(plan_of(seen).order), FEW)


def _focus(now: Moment, which: Extent, uses: Sequence[Use]) -> set[int]:
    """The node in the foreground, and who overwrote what it had saved; for a leaf, the few that use it."""
    if now.current is None:
        return set()
    drawn = set(which.nodes)
    found = {now.current.node, *overwriters(now)} & drawn
    leaves = {node for node in found if now.recording.nodes[node].variable is not None}
    users = [use.by for use in uses if use.of in leaves]
    return found.union(users) if len(users) <= FEW_USES else found


def _folded_note(which: Extent, plan: Plan) -> list[str]:
    groups = [item for item in plan.sight.items if isinstance(item, Group)]
    if not groups:
        return []
    largest = max(groups, key=lambda group: group.stop - group.first)
    count = f"{len(which.nodes)} nodes in {len(plan.order)} boxes"
    return [f"{count}: what is folded opens by name, open={_example(largest.fold, largest.first)}"]


def _example(fold: Fold, number: int) -> str:
    return f'"{fold.name}[{number}]"' if len(fold.times) > 1 else f'"{fold.name}"'


def _too_large(
    now: Moment, which: Extent, plan: Plan, items: Sequence[Item], asked: Sequence[str], max_boxes: int
) -> str:
    folds = [item for item in items if isinstance(item, Fold)]
    inside = f" in {len(plan.order)} boxes" if folds else ""
    ways = [f'draw the neighbourhood of one with around="{some_root(now, which.nodes)}", radius=3']
    if asked and folds:
        ways.insert(0, f"open one repetition with open={_example(folds[0], 0)}")
    elif not folds:
        ways.insert(0, "fold what repeats with fold=True")
    return (
        f"{len(which.nodes)} nodes{inside} would not be readable in one picture (the limit is max_boxes={max_boxes}): "
        f"{', '.join(ways)}, or raise max_boxes="
    )
