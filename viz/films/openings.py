"""The pictures to which clicks on folds lead: each shows the folds of the film's own picture, and one more path open.

A click on a closed box opens its last repetition, in place of what an earlier click opened elsewhere. A click on the
name of a frame closes it again. So there is one picture for each repetition that can be opened, up to a limit.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from microtape.recording.moments.moment import Moment
from viz.scene.scene import Scene, reopened

MOST_OPENINGS = 16  # of a pass
MOST_PICTURES = 3000  # at all steps of all openings: a long film has fewer


@dataclass(frozen=True, eq=False, slots=True)
class Opening:
    """A picture, and where clicks lead: to which other opening, counted from 0, which is the film's own picture."""

    scene: Scene
    opens: dict[str, int] = field(default_factory=dict)  # box ->
    closes: dict[str, int] = field(default_factory=dict)  # frame ->


def find_openings(now: Moment, scene: Scene, max_boxes: int, pictures: int) -> list[Opening]:
    """The film's own picture, and those that clicks lead to, outer folds first. Each has that many `pictures`."""
    most = min(MOST_OPENINGS, MOST_PICTURES // pictures)
    own, tree = scene.plan.view.opened, scene.plan.view.tree
    found = [Opening(scene)]
    numbers = {own: 0}
    for opening in found:  # which grows
        view = opening.scene.plan.view
        for group in view.groups:
            cut = own.union(tree.around(group.fold), group.repetitions[-1:])
            if cut not in numbers and len(found) <= most:
                other = reopened(now, scene, cut)
                if len(other.plan.order) <= max_boxes:
                    numbers[cut] = len(found)
                    found.append(Opening(other))
            if cut in numbers:
                opening.opens[group.id] = numbers[cut]
        for frame, (fold, number) in view.frames.items():
            if (fold, number) not in own and (outer := own.union(tree.around(fold))) in numbers:
                opening.closes[frame] = numbers[outer]
    return found
