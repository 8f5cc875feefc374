"""The overview of a program: what a lecturer would draw.

Its structure is open level by level, as far as a whole level fits; of a loop, the last repetition is open as an
example.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from viz.planning.fold import Fold, operations
from viz.planning.fold_tree import Cut, FoldTree, FoldView, Group, Repetition

STRUCTURE = 14  # boxes up to which the parts of a program are opened
TOO_FEW = 6  # boxes: then whatever is largest is opened as well


def overview(tree: FoldTree, boxes: Callable[[FoldView], int], few: int, closed: Cut = ()) -> set[Repetition]:
    """The cut that shows the structure in at most `few` boxes, without opening what is `closed`."""
    opened: set[Repetition] = set()
    count = boxes(tree.view(opened))

    def open_if_few(more: Iterable[Repetition], most: int) -> None:
        nonlocal count
        wider = opened.union(more)
        if wider.isdisjoint(closed) and (found := boxes(tree.view(wider))) <= most:
            opened.update(wider)
            count = found

    tried: set[Fold] = set()
    while left := [one for one in tree.view(opened).groups if one.fold not in tried]:
        if level := _outermost([one for one in left if len(one.fold.times) == 1 and _has_parts(one)], tree):
            tried.update(group.fold for group in level)
            open_if_few([one for group in level for one in group.repetitions], min(STRUCTURE, few))
            continue
        if count >= TOO_FEW:
            left = [one for one in left if _is_example(one)]
        if not left:
            break
        group = max(left, key=_size)
        tried.add(group.fold)
        open_if_few(group.repetitions[-1:], few)
    return opened


def _outermost(groups: Sequence[Group], tree: FoldTree) -> list[Group]:
    """Those in the fewest frames."""
    depths = [len(tree.around(group.fold)) for group in groups]
    return [group for group, depth in zip(groups, depths, strict=True) if depth == min(depths)]


def _has_parts(group: Group) -> bool:
    """Whether it has a structure that should be seen: scopes in a scope, any folds in another fold."""
    inner = [item for item in group.times[-1] if isinstance(item, Fold)]
    return any(item.kind == "scope" for item in inner) if group.fold.kind == "scope" else bool(inner)


def _is_example(group: Group) -> bool:
    """Whether one of its repetitions, which has several operations and no scopes, shows what the others do."""
    parts = any(isinstance(item, Fold) and item.kind == "scope" for item in group.times[-1])
    return len(group.fold.times) > 1 and len(group.nodes[-1]) > 1 and not parts


def _size(group: Group) -> int:
    return sum(1 for _ in operations(group.fold))
