"""The recordings of several ranks: the same moment on each, and the numbers there beside one another."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TypeVar, get_args

import numpy as np

from microtape.recording.findings.finding import Finding, RankKind
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import BackwardStep, Recording, Value
from microtape.recording.ranks import rank_findings
from microtape.recording.ranks.equality import parted
from microtape.recording.ranks.find import in_order, own_findings
from tui.beside.crossing import Crossing
from tui.beside.opened import PlaceBeside
from tui.shell.opening import Origin
from tui.shell.several import RankFiles
from tui.shell.spans import Line, Role, Span, line
from tui.time.cursor import StepCursor
from tui.time.finding_moments import moment_of
from viz.planning.sparkline import root_mean_square

T = TypeVar("T")
MOST = 4  # ranks whose numbers are shown; of more, the one that is shown, the least and the largest


class RankRecordings:
    """What several files open; see `OpenedBeside`. A side is the place of a rank."""

    def __init__(self, opened: RankFiles, *, opens_there: bool = True) -> None:
        """Args: the files; and whether the stepper opens where the ranks part first."""
        self.ranks = opened.ranks
        self._opens_there = opens_there
        self.recordings: tuple[Recording, ...] = opened.ranks.recordings
        self.origins: tuple[Origin, ...] = opened.origins
        self.names = tuple([f"rank {number}" for number in opened.ranks.numbers])
        self.none_differ = "The ranks do not part: their parameters and averaged gradients are equal."
        self._steps: dict[tuple[int, int], Mapping[int, BackwardStep]] = {}

    @cached_property
    def _every(self) -> tuple[Finding, ...]:
        return rank_findings(self.ranks)

    @property
    def start(self) -> int:
        """The side to show first: that of the first error, else the lowest rank."""
        worst = next((one for one in self._every if one.severity == "error"), None)
        return 0 if worst is None else self.ranks.numbers.index(worst.ranks[0])

    @property
    def _about_ranks(self) -> list[Finding]:
        """Where the ranks part, and what only some of them have."""
        return [one for one in self._every if one.kind in get_args(RankKind)]

    def findings(self, recording: Recording) -> tuple[Finding, ...] | None:
        """Those of the rank, and those about ranks that hold for it first, whose numbers are its own."""
        place = next((at for at, one in enumerate(self.recordings) if one is recording), None)
        if place is None:
            return None
        about = [one for one in self._about_ranks if one.ranks[0] == self.ranks.numbers[place]]
        return in_order([*about, *own_findings(self.ranks, place)])

    def crossing(self, side: int, to: int) -> Crossing:
        """The way from one rank to another."""
        ours, theirs = self.ranks.passes[side], self.ranks.passes[to]
        passes = {at: theirs[number] for number, at in ours.items() if number in theirs}
        return Crossing(self.ranks.matching(min(side, to), max(side, to)), passes, from_b=side > to)

    def with_recording(self, side: int, recording: Recording) -> RankRecordings:
        """Itself: a rank cannot be recorded again alone."""
        return self

    @cached_property
    def _told(self) -> Sequence[tuple[PlaceBeside, Finding]]:
        """The findings with their moments on the first rank that each holds for, in order of time."""
        opened = [StepCursor.open(one) for one in self.recordings]
        found = []
        for one in self._about_ranks:
            side = self.ranks.numbers.index(one.ranks[0])
            found.append((PlaceBeside(side, moment_of(opened[side], one)), one))
        return sorted(found, key=lambda one: _moment(one[0].cursor))

    def first(self, cursor: StepCursor, side: int) -> PlaceBeside | None:
        """The first error, else the first notice."""
        if not self._told or not self._opens_there:
            return None
        return next((place for place, one in self._told if one.severity == "error"), self._told[0][0])

    def places(self, cursor: StepCursor, side: int) -> Sequence[PlaceBeside]:
        """Where the ranks part, each on the first rank that it holds for."""
        return [place for place, _ in self._told]

    def count(self) -> str:
        """`2 findings about ranks`."""
        count = len(self._about_ranks)
        return f"{count} finding{'' if count == 1 else 's'} about ranks" if count else ""

    def here(self, cursor: StepCursor, side: int, *, ascii: bool) -> Line:
        """The finding at this moment, else the numbers of all ranks."""
        for place, one in self._told:
            if (place.side, _moment(place.cursor)) == (side, _moment(cursor)):
                return line(Span(one.headline, "bad" if one.severity == "error" else "warn"))
        return self._numbers(cursor, side)

    # The numbers of all ranks

    def _numbers(self, cursor: StepCursor, side: int) -> Line:
        pass_ = cursor.timeline.pass_
        node = cursor.node
        if node is None:
            node = next((root.node for root in pass_.roots), None) if pass_ is not None else None
        if node is None:
            return ()
        is_leaf = cursor.timeline.node(node).variable is not None
        if cursor.is_forward or cursor.node is None:
            label = cursor.recording.label(node)
            return self._side_by_side("value" if label[0] == "%" else label, side, self._all(node, side, self._value))
        number = pass_.index if pass_ is not None else 0
        steps = self._all(node, side, lambda place, its: self._step(number, place, its))
        came = {place: step.grad_outputs[0] if step and step.grad_outputs else None for place, step in steps.items()}
        if not is_leaf:
            return self._side_by_side("gradient", side, came)
        after = {place: step.grad_after if step is not None else None for place, step in steps.items()}
        is_known = sum(one is not None for one in after.values()) > 1
        is_equal = is_known and parted(after) is None
        says = Span(".grad is equal   " if is_equal else ".grad differs   ", "good" if is_equal else "warn")
        return line(*([says] if is_known else []), *self._side_by_side("local", side, came))

    def _all(self, node: int, side: int, what: Callable[[int, int], T | None]) -> dict[int, T | None]:
        """What a node has on each rank; None where it has no counterpart."""
        found: dict[int, T | None] = {}
        for place in range(len(self.ranks)):
            its = self.ranks.counterpart(node, side, place)
            found[place] = what(place, its) if its is not None else None
        return found

    def _value(self, place: int, node: int) -> Value | None:
        recording = self.recordings[place]
        outputs = recording.nodes[node].outputs
        return recording.value(outputs[0]) if outputs else None

    def _step(self, number: int, place: int, node: int) -> BackwardStep | None:
        """The step that evaluates a node in the pass with this number."""
        position = self.ranks.passes[place].get(number)
        if position is None:
            return None
        if (place, position) not in self._steps:
            steps = self.recordings[place].passes[position].steps
            self._steps[place, position] = {step.node: step for step in steps}
        return self._steps[place, position].get(node)

    def _side_by_side(self, what: str, side: int, values: Mapping[int, Value | None]) -> Line:
        """`|gradient|   rank 0: 0.45  1: 0.43`, or that all are equal."""
        known = {place: value for place, value in values.items() if value is not None}
        if not known:
            return line(Span(f"the {what} was recorded on no rank", "dim"))
        if len(known) == len(values) and parted(known) is None:
            return line(Span(f"{what} {_text(known[side])} ", ""), Span("is equal on all ranks", "good"))
        sizes = {place: _size(value) for place, value in known.items()}
        shown = list(values)
        if len(shown) > MOST and sizes:
            finite = {place: size for place, size in sizes.items() if math.isfinite(size)}
            extremes = [min(finite, key=finite.__getitem__), max(finite, key=finite.__getitem__)] if finite else []
            bad = [place for place in sizes if place not in finite]
            shown = list(dict.fromkeys([side, *bad[:1], *extremes]))
        sign = "" if all(value.size == 1 for value in known.values() if isinstance(value, np.ndarray)) else "|"
        spans = [Span(f"{sign}{what}{sign} ", "dim")]
        for place in shown:
            value = values[place]
            role: Role = "strong" if place == side else ""
            if not math.isfinite(sizes.get(place, 0.0)):
                role = "bad"
            name = f"  {'' if place != shown[0] else 'rank '}{self.ranks.numbers[place]}: "
            spans += [Span(name, "dim"), Span("none" if value is None else _text(value), role)]
        if len(shown) < len(values):
            spans.append(Span(f"   of {len(values)}", "dim"))
        return line(*spans)


def _moment(cursor: StepCursor) -> tuple[int, int]:
    """The number of the pass in the program, and the moment in it."""
    return cursor.timeline.pass_.index if cursor.timeline.pass_ is not None else 0, cursor.position


def _size(value: Value) -> float:
    """The number itself, if it is one; else the root mean square."""
    if isinstance(value, np.ndarray) and value.size == 1:
        return float(abs(value.item()))
    return root_mean_square(value)


def _text(value: Value) -> str:
    """The number, or the size of an array, in three digits."""
    if isinstance(value, np.ndarray) and value.size == 1:
        return format_number(value.item(), 3)
    return format_number(root_mean_square(value), 3)
