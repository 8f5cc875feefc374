"""Records of the course of training: of some passes, the sizes of every parameter, its gradient and its update."""

from __future__ import annotations

from typing import NamedTuple

from microtape.recording.model.parts import Value


class Statistics(NamedTuple):
    """What is known of an array in one line. All but the counts cover the finite elements; None if there are none."""

    norm: float | None
    min: float | None
    max: float | None
    mean: float | None
    std: float | None
    zeros: int
    nans: int
    infs: int


class ParameterRecord(NamedTuple):
    """A leaf at one pass: before it, its gradient after it, and the update that followed."""

    name: str  # the user's name or path in the module; `leaf 3` for the third leaf, if it has none
    shape: tuple[int, ...]
    weight: Statistics | None  # before the update; None: its value is unknown
    gradient: Statistics | None  # its .grad after the pass, for `grad()` what that returned; None: there is none
    change: float | None  # the norm of the update; None: there was none before the next pass, or it is not finite

    @property
    def ratio(self) -> float | None:
        """The norm of the update divided by the norm of the parameter; None if one of them is unknown or zero."""
        norm = self.weight.norm if self.weight is not None else None
        return self.change / norm if self.change is not None and norm else None


class CourseRecord(NamedTuple):
    """A pass of which only this is kept."""

    pass_: int  # its `index`
    loss: Value | None  # its first root
    parameters: tuple[ParameterRecord, ...]
