"""NaN and infinity: finds the moments where they begin, and a key that leads there."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from tui.stepper.parts.background import PAUSE, Background
from tui.stepper.parts.key_declarations import key
from tui.stepper.parts.part import Part, Stepper
from tui.time.cursor import StepCursor
from tui.time.origins import origins
from tui.time.timeline import Timeline


class NotFinite(Part[Stepper]):
    """The moments where NaN or infinity begins, found in the background."""

    def __init__(self, stepper: Stepper, background: Background) -> None:
        super().__init__(stepper)
        self._background = background
        self.moments: tuple[int, ...] | None = None  # None: not known yet
        self._known: WeakKeyDictionary[Timeline, tuple[int, ...]] = WeakKeyDictionary()
        self._here: StepCursor | None = None  # the last moment that the key led to

    @property
    def warning(self) -> str:
        """The heading's warning: `NaN or Inf` and the key that leads there; empty if there is none."""
        return f"NaN or Inf: {self.stepper.key('next_nan')}" if self.moments else ""

    def follow(self, old: StepCursor | None, new: StepCursor) -> None:
        """Search another pass, unless it has been searched before."""
        if old is not None and old.timeline is new.timeline:
            return
        self._show(self._known.get(new.timeline))
        if self.moments is None:
            self.stepper.set_timer(PAUSE, lambda: self._background.start(self._look, new.timeline))

    def _look(self, timeline: Timeline) -> None:
        self.stepper.call_later(self._found, timeline, tuple(one.moment for one in origins(timeline)))

    def _found(self, timeline: Timeline, moments: tuple[int, ...]) -> None:
        self._known[timeline] = moments
        if self.cursor.timeline is timeline:
            self._show(moments)

    def _show(self, moments: tuple[int, ...] | None) -> None:
        self.moments = moments
        self.stepper.changed()

    @key(
        "exclamation_mark",
        "to where NaN or infinity begins",
        help="to the first moment where NaN or infinity begins; again: to the next one",
    )
    def next_nan(self) -> None:
        """Go to the first moment where NaN or infinity begins; from there to the next one, wrapping at the end."""
        if self.moments is None:
            self.say("The search for NaN and infinity is still running.", 3)
        elif not self.moments:
            self.say("There is no NaN or infinity in this pass.", 3)
        elif self.cursor is self._here and len(self.moments) == 1:
            self.say("No other NaN or infinity begins in this pass.", 3)
        else:
            position = self.cursor.position if self.cursor is self._here else -1
            later = (moment for moment in self.moments if moment > position)
            self.cursor = self.cursor.to_moment(next(later, self.moments[0]))
            self._here = self.cursor
