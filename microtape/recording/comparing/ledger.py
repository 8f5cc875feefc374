"""What a comparison has found so far: the differences, the counts, and how far rounding has spread."""

from __future__ import annotations

from typing import NamedTuple

from microtape import errors
from microtape.recording.comparing.differences import Counts, Difference, DifferenceKind, OrderDifference, Pair
from microtape.recording.comparing.matching import Matching
from microtape.recording.comparing.measuring import BOTH_MISSING, MISSING, UNKNOWN, Measured, largest, measure
from microtape.recording.comparing.rounding import LARGEST_STEP, Tolerance, smallest_step
from microtape.recording.model.model import Recording, TensorRef, Value
from microtape.recording.model.summary import is_zero


class Site(NamedTuple):
    """Where two values stand; the fields are those of `Difference`."""

    kind: DifferenceKind
    passes: Pair | None
    steps: tuple[int | None, int | None] | None
    nodes: Pair | None
    number: int = 0
    tensors: tuple[TensorRef, TensorRef] | None = None


class Checked(NamedTuple):
    """What became of two values: whether they part, and how far apart they may be, absolutely and relatively."""

    parts: bool
    allowed: float
    relative: float


TRAVELLING = ("arrived", "sent", "sum")
"""Kinds of gradients that may be undefined on their way."""
SAME = Checked(False, 0.0, 0.0)


class Ledger:
    """Compares values one after the other, and notes what was found."""

    def __init__(self, a: Recording, b: Recording, matching: Matching, tolerance: Tolerance) -> None:
        self.a, self.b = a, b
        self.matching = matching
        self.tolerance = tolerance
        self.differences: list[Difference] = []
        self.orders: list[OrderDifference] = []
        self.dtypes: list[tuple[str, str]] = []
        self.worst = 0.0
        self._values = self._identical = self._by_statistics = self._unknown = 0
        self._known: dict[tuple[int, int], Measured] = {}  # by identity: most values appear in several records
        self._largest: dict[int, float] = {}
        self._rtol: dict[tuple[str, ...], float] = {}
        self._rtol_at: dict[Pair, float] = {}

    @property
    def counts(self) -> Counts:
        """How many values have been compared."""
        return Counts(self._values, self._identical, self._by_statistics, self._unknown)

    def rtol(self, *dtypes: str) -> float:
        """The relative tolerance for values of these dtypes."""
        found = self._rtol.get(dtypes)
        if found is None:
            found = self._rtol[dtypes] = self.tolerance.of(dtypes)
        return found

    def rtol_of(self, one: TensorRef, other: TensorRef) -> float:
        """The relative tolerance for two tensors."""
        return self.rtol(self.a.tensors[one.tensor].dtype, self.b.tensors[other.tensor].dtype)

    def rtol_at(self, nodes: Pair, output: int, *values: Value | None) -> float:
        """The relative tolerance for gradients of an output of two nodes; if it is unknown, for the values' dtypes."""
        known = self._rtol_at.get((nodes[0], output))
        if known is not None:
            return known
        found = []
        for recording, node in zip((self.a, self.b), nodes, strict=True):
            record = recording.nodes[node]
            ref = record.outputs[output] if output < len(record.outputs) else None
            tensor = record.variable if ref is None else ref.tensor
            found += [] if tensor is None else [recording.tensors[tensor].dtype]
        if not found:
            return self.rtol(*(str(one.dtype) for one in values if one is not None))
        rtol = self._rtol_at[nodes[0], output] = self.rtol(*found)
        return rtol

    def identical(self, x: Value | None, y: Value | None) -> bool:
        """Whether two values are the same to the bit, or both gradients are undefined; if not, `check` them."""
        if x is None or y is None:
            return x is y and not (self.a.faults or self.b.faults)
        found = self._known.get((id(x), id(y))) or self._measured(x, y, may_be_none=True)
        if found.identical and found.how == "elements":
            self._values += 1
            self._identical += 1
            return True
        return False

    def check(
        self, site: Site, x: Value | None, y: Value | None, relative: float, floor: float = 0.0, *,
        follows: bool = False, may_be_none: bool = True,
    ) -> Checked:  # fmt: skip
        """Compare two values that may be apart by `relative` of their magnitude, or by `floor` if that is more.

        Args:
            follows: whether what they were computed from differs already.
            may_be_none: None is a gradient that is undefined; otherwise, it is a value that is unknown.
        """
        measured = self._measured(x, y, may_be_none)
        if measured is BOTH_MISSING:
            return SAME
        self._values += 1
        if measured is MISSING and site.kind in TRAVELLING and is_zero(y if x is None else x):
            return SAME  # an undefined gradient stands for zeros, which some engines make of it
        if measured.how == "unknown":
            self._unknown += 1
            return SAME
        self._by_statistics += measured.how == "statistics"
        if measured.identical:
            self._identical += measured.how == "elements"
            return SAME
        self.worst = max(self.worst, measured.relative)
        allowed = relative * measured.scale
        if self.tolerance.rtol is None:  # else the user's tolerance is meant as it is
            allowed = max(allowed, floor)
            if allowed < measured.absolute < LARGEST_STEP:
                allowed = max(allowed, *(smallest_step(one.dtype) for one in (x, y) if one is not None))
        parts = not self.tolerance.agrees(measured, allowed)
        if parts:
            self.differences.append(Difference(*site, a=x, b=y, measured=measured, follows=follows))
        return Checked(parts, allowed, allowed / measured.scale if measured.scale else relative)

    def differ(self, site: Site) -> None:
        """Note a difference that is not between two values."""
        self.differences.append(Difference(*site, a=None, b=None, measured=MISSING, follows=False))

    def leave_out(self, count: int = 1) -> None:
        """Note that values could not be compared."""
        self._values += count
        self._unknown += count

    def largest(self, value: Value | None) -> float:
        """The largest finite magnitude of a value."""
        found = self._largest.get(id(value))
        if found is None:
            found = self._largest[id(value)] = largest(value)
        return found

    def program_errors(self) -> None:
        """Compare the exceptions that the programs raised outside of passes."""
        ours, theirs = (one.error.type if one.error is not None else None for one in (self.a, self.b))
        if not same_error(ours, theirs):
            self.differ(Site("error", None, None, None))

    def _measured(self, x: Value | None, y: Value | None, may_be_none: bool) -> Measured:
        if x is None or y is None:
            if not may_be_none or (x is None and self.a.faults) or (y is None and self.b.faults):
                return UNKNOWN
            return BOTH_MISSING if x is y else MISSING
        key = (id(x), id(y))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = measure(x, y)
        return found


def same_error(one: str | None, other: str | None) -> bool:
    """Whether two types of exceptions may stand for the same: PyTorch raises RuntimeError for most of our own types."""
    return one == other or one in _bases(other) or other in _bases(one)


def _bases(name: str | None) -> list[str]:
    """What one of our exceptions is derived from."""
    own = getattr(errors, name or "", None)
    return [one.__name__ for one in own.__mro__] if isinstance(own, type) else []
