"""The result of a comparison: plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

from microtape.recording.comparing.courses import CourseComparison
from microtape.recording.comparing.matching import Matching
from microtape.recording.comparing.measuring import Measured
from microtape.recording.comparing.rounding import Tolerance
from microtape.recording.model.model import Recording, TensorRef, Value

Pair: TypeAlias = tuple[int, int]
"""A number in recording a, and its counterpart in b."""

DifferenceKind: TypeAlias = Literal[
    "input",  # the value of a leaf, or of a tensor that no node computed, as the program first uses it
    "value",  # what an operation computed
    "grad before",  # the `.grad` of a leaf when a pass begins
    "seed",  # the first gradient of a root
    "arrived",  # the gradient that a node takes, after its hooks
    "sent",  # the gradient that a node sends along one of its edges
    "sum",  # the sum in a buffer after a gradient has arrived
    "grad",  # the `.grad` of a leaf after its last gradient
    "captured",  # a gradient that `grad()` returns
    "not evaluated",  # a node that only one of the passes evaluates
    "error",  # how a pass, or the program, ended
]


class Difference(NamedTuple):
    """Something that differs beyond rounding."""

    kind: DifferenceKind
    passes: Pair | None  # positions in `Recording.passes`; in the forward part, the pass that follows, if any
    steps: tuple[int | None, int | None] | None  # of backward; None in the forward part and for a whole pass
    nodes: Pair | None
    number: int  # which output, edge, root, operand or capture; of an arrived gradient or a sum: which output
    tensors: tuple[TensorRef, TensorRef] | None  # of an input, a value, a leaf's `.grad`, a capture
    a: Value | None
    b: Value | None
    measured: Measured
    follows: bool  # what it was computed from differs already


class OrderDifference(NamedTuple):
    """Two passes that evaluate the same nodes in another order."""

    passes: Pair
    steps: Pair  # the first steps that are not counterparts
    nodes: Pair  # which these evaluate: node numbers in a and in b


class Counts(NamedTuple):
    """How many pairs of values were compared."""

    values: int = 0
    identical: int = 0  # to the bit, as far as this can be seen
    by_statistics: int = 0  # because at least one of the recordings kept only a summary
    unknown: int = 0  # that could not be compared: at least one of them was not recorded


class Comparison(NamedTuple):
    """Two recordings compared. What is in neither list and not left out agrees."""

    a: Recording
    b: Recording
    tolerance: Tolerance
    matching: Matching
    passes: tuple[Pair, ...]  # the passes that were compared: positions in both
    only: tuple[tuple[int, ...], tuple[int, ...]]  # passes without a counterpart, of a and of b
    differences: tuple[Difference, ...]  # in order of time
    orders: tuple[OrderDifference, ...]
    unmatched: tuple[tuple[int, ...], tuple[int, ...]]  # nodes without a counterpart, of a and of b
    unused: tuple[
        tuple[int, ...], tuple[int, ...]
    ]  # the same, of nodes that no pass evaluates; recorders may omit them
    dtypes: Mapping[tuple[str, str], int]  # dtypes in a and b that differ -> of how many pairs of tensors
    counts: Counts
    worst: float  # the largest relative difference of all, also of those that agree; see `Measured.relative`
    courses: CourseComparison

    @property
    def first(self) -> Difference | None:
        """The first difference in time."""
        return self.differences[0] if self.differences else None

    @property
    def origins(self) -> tuple[Difference, ...]:
        """The differences that do not follow from earlier ones."""
        return tuple(one for one in self.differences if not one.follows)

    @property
    def is_complete(self) -> bool:
        """Whether everything in both recordings was compared, be it by statistics, apart from what is unused."""
        cut = any(
            one.passes[at].is_cut_short for one, which in ((self.a, 0), (self.b, 1)) for at in self._compared(which)
        )
        faults = self.a.faults or self.b.faults
        left = (*self.only, *self.unmatched, *self.courses.only_passes, *self.courses.only_names)
        return not (any(left) or self.counts.unknown or cut or faults)

    @property
    def differs(self) -> bool:
        """Whether something differs, in a pass or in the course of training."""
        return bool(self.differences or self.courses.differences)

    @property
    def is_equal(self) -> bool:
        """Whether everything was compared, and agrees."""
        return not self.differs and self.is_complete

    def _compared(self, which: int) -> list[int]:
        return [pair[which] for pair in self.passes]
