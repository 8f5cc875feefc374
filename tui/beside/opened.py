"""What the stepper asks of several recordings that are open at once, of which it shows one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from microtape.recording.findings import Finding
from microtape.recording.model.model import Recording
from tui.beside.crossing import Crossing
from tui.shell.opening import Origin
from tui.shell.spans import Line
from tui.time.cursor import StepCursor


class PlaceBeside(NamedTuple):
    """A moment worth going to, and which recording shows it."""

    side: int
    cursor: StepCursor


class OpenedBeside(Protocol):
    """Several recordings. A *side* is an index into `recordings`."""

    @property
    def recordings(self) -> Sequence[Recording]:
        """The recordings, in the order in which a key shows them."""

    @property
    def names(self) -> Sequence[str]:
        """What to call each."""

    @property
    def origins(self) -> Sequence[Origin]:
        """Where each is from."""

    @property
    def none_differ(self) -> str:
        """A sentence for when there is no place to go to."""

    def crossing(self, side: int, to: int) -> Crossing:
        """The way from one of them to another."""

    def with_recording(self, side: int, recording: Recording) -> OpenedBeside:
        """The same with another recording on one side, which has been recorded again."""

    def findings(self, recording: Recording) -> tuple[Finding, ...] | None:
        """What is wrong in one of them, as far as they know it together; None: ask the recording alone."""

    def first(self, cursor: StepCursor, side: int) -> PlaceBeside | None:
        """Where the stepper opens; None: where it is."""

    def places(self, cursor: StepCursor, side: int) -> Sequence[PlaceBeside]:
        """Where a difference begins, seen from this side, in order of time."""

    def count(self) -> str:
        """How many differences there are, in words; empty if none."""

    def here(self, cursor: StepCursor, side: int, *, ascii: bool) -> Line:
        """What differs at this moment."""
