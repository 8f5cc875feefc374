"""The leaves of a pass on every rank: the value, the rank's own gradient, and what became of `.grad`."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from microtape.recording.comparing.measuring import measure
from microtape.recording.comparing.rounding import Tolerance
from microtape.recording.model.model import Recording, TensorRef, Value
from microtape.recording.model.versions import used_versions
from microtape.recording.ranks.group import Ranks

Key: TypeAlias = str | int
"""What a leaf is called on all ranks: its name, else its node at place 0."""


class LeafAt(NamedTuple):
    """A leaf in a pass of one rank."""

    tensor: int
    dtype: str  # of the tensor; a recorded bfloat16 is an array of float32
    node: int
    step: int | None  # that evaluates its AccumulateGrad; None: no gradient reached it
    value: Value | None  # with which the pass computed; None: it was not recorded
    local: Value | None  # the gradient that this rank computed
    before: Value | None  # .grad before the pass and after it
    after: Value | None
    has_hook: bool = False  # that may have changed .grad

    @property
    def is_own(self) -> bool | None:
        """Whether `.grad` holds what this rank computed alone; False after a reduction, None if that is not known."""
        if self.step is None or self.local is None or self.after is None or self.has_hook:
            return None
        expected = self.local
        if self.before is not None:
            if not isinstance(self.before, np.ndarray) or not isinstance(self.local, np.ndarray):
                return None
            with np.errstate(all="ignore"):
                expected = np.add(self.before, self.local, dtype=self.local.dtype)
        found = measure(expected, self.after)
        if found.how not in ("elements", "statistics"):
            return None
        return found.identical or Tolerance().agrees(found, Tolerance().of([self.dtype]) * found.scale)


def is_averaged(leaf: Mapping[int, LeafAt]) -> bool:
    """Whether a rank's `.grad` holds something else than what the rank computed."""
    return any(one.is_own is False for one in leaf.values())


def is_parameter(ranks: Ranks, key: Key, leaf: Mapping[int, LeafAt]) -> bool:
    """Whether the program trains a leaf: it is updated, averaged, or a part of something such as a model.

    A part of something may also be data, such as `batch["x"]` of which a gradient is wanted: another tensor in each
    pass, and not averaged where others are.
    """
    if is_averaged(leaf) or any(one.tensor in ranks.programs[at].updated for at, one in leaf.items()):
        return True
    if not isinstance(key, str) or not any(sign in key for sign in ".["):
        return False
    seen = _seen(ranks)
    return key not in seen.anew and (key in seen.averaged or not seen.averaged)


class _Seen(NamedTuple):
    """What all passes show of leaves."""

    averaged: Set[Key]  # in some pass
    anew: Set[Key]  # other tensors in other passes


_seen_of: WeakKeyDictionary[Ranks, _Seen] = WeakKeyDictionary()


def _seen(ranks: Ranks) -> _Seen:
    if ranks not in _seen_of:
        averaged: set[Key] = set()
        tensors: dict[tuple[Key, int], set[int]] = {}
        for number in ranks.shared:
            for key, leaf in leaves_at(ranks, number).items():
                if is_averaged(leaf):
                    averaged.add(key)
                for place, one in leaf.items():
                    tensors.setdefault((key, place), set()).add(one.tensor)
        _seen_of[ranks] = _Seen(averaged, {key for (key, _), its in tensors.items() if len(its) > 1})
    return _seen_of[ranks]


Leaves: TypeAlias = Mapping[Key, Mapping[int, LeafAt]]
"""The leaves of a pass: key -> place -> the leaf there, where the pass reaches it."""
_known: WeakKeyDictionary[Ranks, dict[int, Leaves]] = WeakKeyDictionary()


def leaves_at(ranks: Ranks, number: int) -> Leaves:
    """The leaves of the pass with this number, from 0."""
    known = _known.setdefault(ranks, {})
    if number not in known:
        known[number] = _leaves_at(ranks, number)
    return known[number]


def _leaves_at(ranks: Ranks, number: int) -> Leaves:
    found: dict[Key, dict[int, LeafAt]] = {}
    for place in ranks.having(number):
        recording, position = ranks.recordings[place], ranks.passes[place][number]
        for leaf in _of_pass(recording, position):
            key: Key | None = recording.tensors[leaf.tensor].name or ranks.counterpart(leaf.node, place, 0)
            if key is not None:
                found.setdefault(key, {}).setdefault(place, leaf)
    return found


def _of_pass(recording: Recording, position: int) -> list[LeafAt]:
    one = recording.passes[position]
    versions, steps = used_versions(recording, one), {step.node: step for step in one.steps}
    found = []
    for node in one.nodes:
        leaf, step = recording.nodes[node].variable, steps.get(node)
        if leaf is None:
            continue
        dtype = recording.tensors[leaf].dtype
        value = recording.value(TensorRef(leaf, versions[leaf])) if leaf in versions else None
        before = one.grads.get(leaf)
        if step is None or step.error is not None:
            found.append(LeafAt(leaf, dtype, node, None, value, None, before, before))
        else:
            local = step.grad_outputs[0] if step.grad_outputs else None
            if value is not None and local is not None and value.shape != local.shape:
                value = None  # a part of it: its memory was exchanged after the pass had used it
            hooks = any(one.kind == "post accumulate" for one in step.hooks)
            found.append(LeafAt(leaf, dtype, node, step.index, value, local, before, step.grad_after, hooks))
    return found
