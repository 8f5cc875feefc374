"""The way that a mistake took through the graph: the arrows along which it spread."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from microtape.recording.model.model import Value
from microtape.recording.model.summary import is_finite, is_zero
from microtape.recording.moments.moment import Moment
from viz.basics.graph import ArrowKind
from viz.planning.box_plan import BoxPlan, Key, Link
from viz.scene.findings import boxes_of, happened

_NUMBERS = ("nan", "infinity")


class _Spread(NamedTuple):
    """Where a finding spread."""

    boxes: Collection[Key]
    is_number: bool  # NaN or infinity, which can be seen in what an arrow carries
    is_value: bool  # it began in the forward, so values carry it as well as gradients


class Ways:
    """The ways of the findings that have happened by this moment."""

    def __init__(self, now: Moment, plan: BoxPlan) -> None:
        self._zeros = False
        self._cut: set[Link] = set()  # from leaves that get no gradient to where their history ends
        self._spread: list[_Spread] = []
        for one in happened(now):
            if one.kind == "no gradient":
                self._cut |= _from(boxes_of(one, plan), plan)
            elif one.spread and one.node is not None:
                boxes = {plan.key_of[node] for node in {one.node, *one.spread} & plan.key_of.keys()}
                self._spread.append(_Spread(boxes, one.kind in _NUMBERS, one.step is None))
            self._zeros |= one.kind == "zero gradient"

    def include(self, link: Link, kind: ArrowKind, carried: Value | None) -> bool:
        """Whether a mistake came along this arrow, which carried this gradient or value, if that is known."""
        if kind in ("border", "future") and link in self._cut:
            return True
        if kind not in ("done", "now", "future"):
            return False
        is_sound = carried is not None and is_finite(carried)
        if kind == "future":
            return carried is not None and any(one.is_value and not is_sound for one in self._with(link))
        if self._zeros and carried is not None and is_zero(carried):
            return True
        return any(not (one.is_number and is_sound) for one in self._with(link))

    def _with(self, link: Link) -> Iterator[_Spread]:
        """What has spread to both ends of an arrow."""
        return (one for one in self._spread if link.tail in one.boxes and link.head in one.boxes)


def _from(boxes: Collection[Key], plan: BoxPlan) -> set[Link]:
    """The arrows that lead down from these boxes as far as the tape goes."""
    reached, found = set(boxes), set()
    for link in plan.links:  # in the order of their heads
        if link.tail in reached and (not link.uses or any(use.edge is not None for use in link.uses)):
            reached.add(link.head)
            found.add(link)
    return found
