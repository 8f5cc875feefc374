"""Looks for the first pass in which something is found that the first pass did not have."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Sequence
from time import monotonic
from typing import Any, Literal, NamedTuple, TypeAlias

from microtape.recording.findings import Finding, findings
from microtape.recording.findings.gradients.copies import has_changed
from microtape.recording.findings.gradients.zeros import only_zeros
from microtape.recording.findings.training.grad_fields import learned
from microtape.recording.findings.training.updating import loss_of, took_it_well
from microtape.recording.model.model import Place, Recording
from microtape.recording.script.request import PROGRESS, STOP

_MOST_PASSES, _MOST_STEPS = 16, 5_000  # that are kept before the search begins to forget
_ROUNDS, _MOST_OF_ROUNDS = 3, 64  # times that each line of backward has run, or passes, before that
_MOST_PLACES = 4  # lines of backward, whose last passes are kept
_FORGOT = "; before it, the first and the last from each line are kept"

SearchEnd: TypeAlias = Literal["found", "failed", "finished", "time over", "stopped", "killed"]
"""Why a search ended. "failed": the script raised; "stopped": we were asked to; "killed": the script did not yield."""


class _Notice(NamedTuple):
    """What later passes may refute of a finding."""

    kind: str
    is_serious: bool
    leaves: frozenset[str]  # by name: later passes may number them otherwise
    place: Place | None  # of its pass
    loss: float  # before an update of this size

    @classmethod
    def of(cls, one: Finding, recording: Recording) -> _Notice:
        """What there is of this in a finding."""
        variables = [one.tensor, *(recording.nodes[node].variable for node in one.spread)]
        tensors = [recording.tensors[number] for number in variables if number is not None]
        leaves = frozenset(tensor.name for tensor in tensors if tensor.is_leaf)
        if one.kind == "zero gradient":
            leaves = frozenset(leaf for leaf, is_zero in only_zeros(recording).items() if is_zero)
        if one.pass_ is None:
            return cls(one.kind, one.severity != "notice", leaves, None, math.nan)
        pass_ = recording.passes[one.pass_]
        return cls(one.kind, one.severity != "notice", leaves, pass_.place, loss_of(recording, pass_))


class Search:
    """A search, from the end of the first pass on. `first` is the recording of that pass."""

    def __init__(self, first: Recording, seconds: float, folder: str) -> None:
        known = _serious(first)
        self.found_an_error = any(one.severity == "error" for one in known)
        self._known = {_identity(one, first) for one in known}
        self._known_notices = {_identity(one, first) for one in findings(first)}
        self._has_a_notice = False
        self._kept = [_Notice.of(one, first) for one in findings(first)]  # in the recording that is saved
        self._reached: set[str] = set()  # the leaves that a gradient has reached,
        self._moved: set[str] = set()  # those that one has reached which was not zero,
        self._learned: set[str] = set()  # and those that were updated by theirs
        self._following: set[str] = set()  # those without, to which the program wrote otherwise, as an average is kept
        self._losses: dict[Place | None, float] = {}
        self._forgets = False  # whether passes were forgotten
        self._runs: Counter[Place | None] = Counter()  # how often each line of backward has run
        self._over = monotonic() + seconds
        self._folder = folder
        self._asked_by = os.getppid()

    def needed(self, segments: Sequence[Any]) -> list[Any]:
        """Those of the segments after the first pass that may show something: the last one of each line of backward.

        A gradient that nobody resets is seen only beside the last pass of the same line: that of a generator, between
        two of its critic. What shows over many passes is looked for in the first ones, as long as they are short, and
        for as long as a line of backward is new: a generator may have one pass for ten of its critic.
        """
        passes = [one for segment in segments for one in segment.passes]
        self._runs.update(one.place for segment in segments[-1:] for one in segment.passes)
        is_new = any(runs < _ROUNDS for runs in self._runs.values())
        most = _MOST_OF_ROUNDS if is_new else 0 if self._forgets else _MOST_PASSES
        if len(passes) < most and sum(len(one.steps) for one in passes) <= _MOST_STEPS:
            return list(segments)
        self._runs = Counter(dict.fromkeys(self._runs, _ROUNDS))  # those lines had their time
        self._forgets = True
        kept: list[Any] = []
        places: set[Place | None] = set()
        for segment in reversed(segments):
            own = {one.place for one in segment.passes}
            if not own <= places and len(places) < _MOST_PLACES:
                kept.insert(0, segment)
                places |= own
        return kept

    def told(self, note: str, number: int) -> str:
        """A note about a pass, which also says whether passes before it were forgotten."""
        return note.format(number=number) + (_FORGOT if self._forgets else "")

    def finds(self, recording: Recording) -> bool:
        """Whether something is wrong in this recording that was not wrong in the first pass."""
        self._note(recording)
        new = [one for one in _serious(recording) if _identity(one, recording) not in self._known]
        return any(one.kind != "no gradient" or not self._is_refuted(_Notice.of(one, recording)) for one in new)

    def finds_a_notice(self, recording: Recording) -> bool:
        """Whether this is the first recording with a notice that the first pass did not have."""
        if self._has_a_notice:
            return False
        found = [one for one in findings(recording) if not self._is_refuted(_Notice.of(one, recording))]
        self._has_a_notice = any(_identity(one, recording) not in self._known_notices for one in found)
        if self._has_a_notice:
            self._kept = [_Notice.of(one, recording) for one in findings(recording)]
        return self._has_a_notice

    def is_refuted_by(self, recording: Recording) -> bool:
        """Whether later passes show that something was right that seemed wrong too early, and nothing else is wrong."""
        left = [one for one in self._kept if not self._is_refuted(one)]
        is_all = sum(one.is_serious for one in left) <= len(_serious(recording))
        return len(left) < len(self._kept) and is_all and len(findings(recording)) <= len(left)

    def _is_refuted(self, one: _Notice) -> bool:
        """Whether other passes gave leaves their gradient or update, or a loss fell after a large update."""
        if one.kind == "no gradient":
            follows = set() if one.is_serious else self._following
            return bool(one.leaves) and one.leaves <= self._reached | follows
        if one.kind == "zero gradient":
            return bool(one.leaves) and one.leaves <= self._moved
        if one.kind == "accumulated":
            return one.leaves <= self._learned
        return one.kind == "large update" and took_it_well(one.loss, self._losses.get(one.place, math.nan))

    def _note(self, recording: Recording) -> None:
        """Remember which leaves these passes reach and update, and the last loss of each line."""
        for pass_ in recording.passes:
            self._losses[pass_.place] = loss_of(recording, pass_)
            leaves = (recording.nodes[step.node].variable for step in pass_.steps if step.grad_after is not None)
            self._reached.update(recording.tensors[leaf].name for leaf in leaves if leaf is not None)
        self._moved.update(leaf for leaf, is_zero in only_zeros(recording).items() if not is_zero)
        self._learned.update(recording.tensors[leaf].name for leaf in learned(recording))
        lacking = {name for one in self._kept if one.kind == "no gradient" for name in one.leaves}
        updated = {one.tensor for one in recording.updates}
        self._following.update(
            one.name for one in recording.tensors if one.name in lacking and one.id not in updated and has_changed(one)
        )

    def over(self, passes: int) -> SearchEnd | None:
        """Why the search ends now, after so many passes; None if it goes on."""
        if os.path.exists(os.path.join(self._folder, STOP)) or os.getppid() != self._asked_by:
            return "stopped"
        if monotonic() >= self._over:
            return "time over"
        with open(os.path.join(self._folder, PROGRESS), "w", encoding="ascii") as file:
            file.write(str(passes))
        return None


def _serious(recording: Recording) -> list[Finding]:
    """The findings that the program's author cannot have wanted."""
    return [one for one in findings(recording) if one.severity != "notice"]


def _identity(one: Finding, recording: Recording) -> object:
    """Equal for the same fault in two passes, which share leaves but no results."""
    leaf = one.tensor if one.tensor is not None and recording.tensors[one.tensor].is_leaf else None
    return one.kind, one.place, leaf
