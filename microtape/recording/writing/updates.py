"""Writes to leaves outside of backward: the steps of an optimiser, or of an update by hand."""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from microtape.basics.call_site import CallSite, user_site
from microtape.tape.tensor_state import TensorState, memory_owner

_NONE: npt.NDArray[Any] = np.zeros(0)


class _Update:
    """The writes to one leaf between two passes. `old` is its value before the first of them."""

    def __init__(
        self, leaf: TensorState, passes: int, old: npt.NDArray[Any], site: CallSite | None, is_counted: bool
    ) -> None:
        self.leaf, self.passes, self.old, self.site = leaf, passes, old, site
        self.is_counted: bool | None = is_counted  # whether the first write raised the leaf's version
        self.is_reached = True  # whether a pass has reached the leaf
        self.again: CallSite | None = None  # the last step with a gradient that a step before has used
        self.norm: float | None = None
        self.change: float | None = None
        self.has_changed = False  # whether the leaf is known to have changed, though it may change back

    def goes_on(self) -> None:
        """The leaf is about to be written to again, perhaps by a call that will undo what the first one has done."""
        if not self.has_changed and user_site() != self.site:
            self.has_changed = not _same(self.old, self.leaf.array)

    def settle(self) -> None:
        """Note how far the writes have moved the leaf."""
        with np.errstate(all="ignore"):
            old, new = (np.asarray(one, dtype=np.complex128) for one in (self.old, self.leaf.array))
            self.norm = _norm(old)
            self.change = _norm(new - old) if new.shape == old.shape else None
        if self.change == 0 and self.has_changed:
            self.change = None
        self.old = _NONE


class UsedGradients:
    """Which gradients the steps of optimisers have used since the last pass.

    A step inside of another one, as that of an optimiser that wraps others, is a part of it.
    """

    def __init__(self) -> None:
        self._running = 0  # steps
        self._used: dict[Hashable, tuple[weakref.ref[Any], int]] = {}  # by leaf: its gradient, and that one's version

    def begins(self) -> bool:
        """A step begins; whether it is the outermost."""
        self._running += 1
        return self._running == 1

    def ended(self) -> None:
        """A step has ended."""
        self._running = max(self._running - 1, 0)

    def use(self, leaf: Hashable, gradient: Any, version: int) -> bool:
        """A step uses a gradient; whether a step before has used it, as it is now."""
        known, version_before = self._used.get(leaf, (None, 0))
        self._used[leaf] = weakref.ref(gradient), version
        return known is not None and known() is gradient and version == version_before

    def forget(self, leaf: Hashable) -> None:
        """Somebody else has written to the leaf: that a step uses its gradient once more may be meant."""
        if not self._running:
            self._used.pop(leaf, None)

    def clear(self) -> None:
        """A pass begins; or one has begun inside of a step, whose end matters no more."""
        self._running = 0
        self._used.clear()


class Updates:
    """Notes the writes to the leaves that backward has reached, also those through `.data` or another alias."""

    def __init__(self) -> None:
        self._leaves: dict[int, TensorState] = {}  # id of a leaf -> the leaf, held so that the id is not reused
        self._owners: dict[int, TensorState] = {}  # id of the array that owns a leaf's memory -> the leaf
        self._seen: dict[int, npt.NDArray[Any]] = {}  # id of a leaf -> its value when the last pass began
        self._open: dict[int, _Update] = {}  # id of a leaf -> what was written since the last pass began
        self._found: list[_Update] = []
        self._reached: dict[int, TensorState] = {}  # the leaves that passes have reached in this segment
        self._reached_before: dict[int, TensorState] = {}  # and in the previous one
        self._gradients = UsedGradients()
        self._again: dict[int, CallSite | None] = {}  # id of a leaf -> the step that used its gradient once more

    def next_segment(self, passes: int) -> Updates:
        """Close the updates of this segment; returns those of the next, of the same leaves."""
        self._close(passes)
        following = Updates()
        following._leaves = {**self._reached_before, **self._reached}
        following._reached_before, following._gradients = self._reached, self._gradients
        following._look()
        self._leaves = {}
        return following

    def pass_began(self, leaves: Iterable[TensorState], passes: int) -> None:
        """Close the updates since the last pass, and watch these leaves. `passes`: how many had begun before."""
        self._close(passes)
        self._gradients.clear()
        for leaf in leaves:
            self._leaves[id(leaf)] = self._reached[id(leaf)] = leaf
        self._look()

    def _look(self) -> None:
        """Note where the leaves are in memory, and the values of those that are new or have changed."""
        self._owners = {id(memory_owner(leaf.array)): leaf for leaf in self._leaves.values()}
        seen = self._seen
        self._seen = {key: seen[key] if key in seen else leaf.array.copy() for key, leaf in self._leaves.items()}

    def behind(self, tensor: TensorState) -> TensorState | None:
        """The leaf that backward has reached and that a write to `tensor` changes, but not its version; or None."""
        leaf = self._owners.get(id(memory_owner(tensor.array)))
        return leaf if leaf is not None and not _share_versions(tensor, leaf) else None

    def is_as_reached(self, leaf: TensorState) -> bool:
        """Whether backward has reached the leaf, and nothing was written to it since the last pass began."""
        return id(leaf) in self._leaves and id(leaf) not in self._open

    def writing(self, tensor: TensorState, passes: int) -> None:
        """The memory of `tensor` is about to be overwritten."""
        leaf = self._owners.get(id(memory_owner(tensor.array)))
        if leaf is not None:
            self._gradients.forget(id(leaf))
            self._opened(leaf, passes, leaf.array, is_counted=_share_versions(tensor, leaf))

    def stepping(self, parameters: Iterable[TensorState]) -> None:
        """An optimiser is about to step."""
        if not self._gradients.begins():
            return
        for one in parameters:
            gradient = one.meta.grad if one.meta is not None else None
            version = gradient.version.number if gradient is not None and gradient.version is not None else 0
            if gradient is not None and self._gradients.use(id(one), gradient, version):
                self._again[id(one)] = user_site()

    def stepped(self, parameters: Iterable[TensorState], passes: int) -> None:
        """An optimiser has stepped. A parameter that it has left as it was has an update, too, with a change of 0.

        Writes during a pass are not noted, so there, in a hook, the old value is the one before the pass.
        """
        self._gradients.ended()
        for one in parameters:
            self._opened(one, passes, self._seen.get(id(one), one.array), is_counted=True)

    def _opened(self, leaf: TensorState, passes: int, old: npt.NDArray[Any], *, is_counted: bool) -> None:
        """Note the leaf's old value, if this is the first write since the last pass began."""
        if (opened := self._open.get(id(leaf))) is not None:
            opened.goes_on()
        else:
            opened = self._open[id(leaf)] = _Update(leaf, passes, old.copy(), user_site(), is_counted)
            opened.is_reached = id(leaf) in self._leaves or (
                leaf.meta is not None and leaf.meta.accumulator is not None
            )

    def _close(self, passes: int) -> None:
        """End the updates that are open; `_seen` keeps the values of those leaves that nobody has changed."""
        for key, leaf in self._leaves.items():  # those that were given other memory, as by `w.data = ...`
            before = self._seen.get(key)
            if key not in self._open and before is not None and not _same(before, leaf.array):
                self._open[key] = _Update(leaf, passes, before, None, is_counted=False)
        for key, one in self._open.items():
            self._seen.pop(key, None)
            one.again = self._again.get(key)
            one.settle()
        self._found += self._open.values()
        self._open = {}
        self._again.clear()

    def settled(self, passes: int) -> Sequence[_Update]:
        """All updates until now; those that are open end here."""
        self._close(passes)
        self._look()
        return self._found


def _share_versions(tensor: TensorState, leaf: TensorState) -> bool:
    """Whether a write to `tensor` raises the version of the leaf whose memory it has."""
    return tensor is leaf or (tensor.version is not None and tensor.version is leaf.version)


def _norm(array: npt.NDArray[Any]) -> float | None:
    found = float(np.linalg.norm(array.ravel()))
    return found if np.isfinite(found) else None


def _same(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> bool:
    return one.shape == other.shape and one.tobytes() == other.tobytes()
