"""Keeps the passes of a program that were asked for, and forgets the others as soon as that is possible.

Note [What is kept of a long program]
  A recorder is asked after each pass to forget what is not wanted; see Note [Segments]. Passes are wanted by their
  numbers (`first`, `last`), or because something happens in them (`until`): then the last pass stays until the next
  has ended, and no other. With `every`, a pass is recorded like any other, and once the next pass has ended, so that
  its update is known, a CourseRecord is made of it; the pass itself stays until another takes its place.
  With `seals`, each pass that was chosen by its number has a segment of its own, which never changes any more, so that
  a journal can take it over. See Note [Journals].
  With `sleeps`, the recorder sleeps through the passes that are not wanted. Then nobody notices what happens in them.
"""

from __future__ import annotations

from typing import Any, Protocol

from microtape.recording.choosing.courses import course_of
from microtape.recording.choosing.until import Until
from microtape.recording.model.model import CourseRecord, Pass, Recording

_MOST_KEPT = 16  # passes of one graph, while looking for a pass


class Recorder(Protocol):
    """What is asked of a recorder. `segments` and `passes`, those of the last segment, are lists of its own."""

    @property
    def recording(self) -> Recording:
        """The recording so far."""

    @property
    def segments(self) -> list[Any]:
        """See Note [Segments]."""

    @property
    def passes(self) -> list[Any]:
        """The passes of the last segment."""

    @property
    def count(self) -> int:
        """How many passes have begun."""

    def begin_segment(self) -> None:
        """Record what follows in a new segment."""

    def seal(self) -> None:
        """End the segment, which stays, and record what follows in a new one."""

    def sleep(self) -> None:
        """Only count the passes from now on."""

    def wake(self) -> None:
        """Record again, in a new segment."""


class Keeper:
    """What is kept of a program. Passes are counted from 1 in `first`, `last` and `every`.

    `last`: 0 means the first backward(), None the last pass of all.
    """

    def __init__(
        self,
        recorder: Recorder,
        *,
        first: int = 1,
        last: int | None = None,
        until: Until | None = None,
        every: int | None = None,
        sleeps: bool = False,
        seals: bool = False,
    ) -> None:
        self.recorder = recorder
        self.first, self.last, self.until, self.every = first, last, until, every
        self.sleeps = sleeps and until is None
        self._seals = seals
        self._sealed = False  # whether a segment with a wanted pass was sealed
        self._looked_at: Recording | None = None
        self.courses: list[CourseRecord] = []
        self._sampled: int | None = None  # the index of a pass of which no course was made yet

    def wants(self, index: int) -> bool:
        """Whether the pass with this index (from 0) was asked for."""
        if self.every is not None:
            return (index + 1) % self.every == 0
        return index + 1 >= self.first and (not self.last or index < self.last)

    def begin(self) -> None:
        """The program begins."""
        if self.sleeps and not self.wants(0):
            self.recorder.sleep()

    def ended(self, index: int) -> bool:
        """An outermost pass has ended: forget what is not wanted. Returns whether all that was asked for is there."""
        self.make_course()
        if self.every is not None and self.wants(index):
            self._sampled = index
        complete = False
        if self.until is not None:
            complete = self._look(self.until)
        elif self.sleeps and not self.wants(index):
            pass  # nothing was recorded
        elif self.every is not None:
            del self.recorder.segments[:-1]
        else:
            complete = self._choose(index)
        if self.sleeps and not complete:
            if not self.wants(index + 1):
                self.recorder.sleep()
            elif not self.wants(index):
                self.recorder.wake()
            elif self.every is not None:
                self.recorder.begin_segment()
        return complete

    def make_course(self) -> None:
        """Make a course of the sampled pass, now that its update is known: the next pass or the program has ended."""
        if self._sampled is not None:
            made = course_of(self.recorder.recording, self._sampled)
            self.courses += [made] if made is not None else []
            self._sampled = None

    def _choose(self, index: int) -> bool:
        """Keep the passes that were asked for by their numbers."""
        kept, ended = self.recorder.passes, next((one for one in self.recorder.passes if one.index == index), None)
        kept[:] = [one for one in kept if self.wants(one.index) or one.has_failed]
        if self.last == 0:
            complete = ended is not None and ended.kind == "backward"
        else:
            complete = self.last is not None and self.recorder.count >= self.last
        if not self._sealed:
            del self.recorder.segments[:-1]  # a pass that failed, if the program went on all the same
        if any(self.wants(one.index) for one in kept):
            if self._seals and not complete:
                self.recorder.seal()
                self._sealed = True
        elif not self._sealed:
            self.recorder.begin_segment()
            del self.recorder.segments[: -2 if kept else -1]
        return complete

    def _look(self, until: Until) -> bool:
        """Whether it happened in a pass; else forget passes whose graph no later pass can share."""
        if not self.recorder.passes:
            return False  # it could not be recorded
        del self.recorder.segments[:-1]
        self._looked_at = None
        if self._may_have_happened(until):
            recording = self._looked_at = self.recorder.recording
            if any(until.happens_in(recording, i) for i in range(len(recording.passes))):
                return True
        if self.shares_no_graph():
            self.recorder.begin_segment()
        return False

    def _may_have_happened(self, until: Until) -> bool:
        """Whether it is worth making a recording to look into, which takes about as long as the recorded pass."""
        if until.text == "error":
            return any(one.has_failed for one in self.recorder.passes)
        return until.text != "nan" or bool(self.recorder.segments[-1].has_nan())

    @property
    def looked_at(self) -> Recording:
        """With `until`: the recording of the last pass."""
        return self._looked_at if self._looked_at is not None else self.recorder.recording

    def shares_no_graph(self) -> bool:
        """Whether no later pass can share the graph of the last one; the graph of many passes is cut all the same."""
        passes = self.recorder.passes
        return not (passes[-1].retain_graph or passes[-1].create_graph) or len(passes) >= _MOST_KEPT

    @property
    def last_pass(self) -> Pass | None:
        """The last pass of the last segment."""
        return max(self.recorder.passes, key=lambda one: one.index, default=None)
