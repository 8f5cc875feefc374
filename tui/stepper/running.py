"""Running through time: to the next breakpoint and back, or by itself at a speed."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from textual.reactive import reactive
from textual.timer import Timer

from microtape.recording.script.condition import Condition
from tui.stepper.stops_screen import StopsScreen
from tui.time.breakpoints import Breakpoint, Breakpoints, StopKind, first_nan, held, not_finite
from tui.time.cursor import StepCursor
from tui.time.timeline import Timeline
from tui.widgets.background import PatientScreen

SHORT = 2_000  # moments within which a condition is evaluated at once
PAUSE = 0.3  # seconds before anything long is worked out, as where NaNs are: the first paint comes first
SPEEDS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)  # steps a second


class RunningScreen(PatientScreen):
    """A screen with a cursor that can run: what the keys c, C, b, w, space, + and - do."""

    breakpoints: reactive[Breakpoints | None] = reactive(None, repaint=False)
    stops: reactive[tuple[int, ...]] = reactive((), repaint=False)  # the moments that a run stops at
    stop_nodes: reactive[frozenset[int]] = reactive(frozenset(), repaint=False)
    not_finite: reactive[tuple[int, ...] | None] = reactive(None, repaint=False)  # None: not looked at yet
    warning: reactive[str] = reactive("", repaint=False)  # that there are any, and which key leads there
    speed: reactive[float] = reactive(0.0, repaint=False)

    def __init__(self, *, ascii: bool = False) -> None:
        super().__init__(ascii=ascii)
        self._chosen_speed = 2
        self._timer: Timer | None = None
        self._at_nan: StepCursor | None = None  # where a key led that looks for them
        self._looked_at: WeakKeyDictionary[Timeline, tuple[int, ...]] = WeakKeyDictionary()  # for NaN

    # Breakpoints

    def watch_cursor(self, old: StepCursor | None, new: StepCursor | None) -> None:
        """Another pass has other moments."""
        if new is None or (old is not None and old.timeline is new.timeline):
            return
        known = self.breakpoints
        self.breakpoints = Breakpoints(new.timeline) if known is None else known.on(new, evaluate=_is_short(new))
        self.beside(self._evaluate, new, self.breakpoints.unknown)
        self.not_finite = self._looked_at.get(new.timeline)
        if self.not_finite is None:
            self.set_timer(PAUSE, lambda: self.beside(self._look_for_nan, new))

    def watch_breakpoints(self, breakpoints: Breakpoints | None) -> None:
        """Show where they are."""
        if breakpoints is not None:
            self.stops, self.stop_nodes = breakpoints.moments, breakpoints.nodes

    def _look_for_nan(self, cursor: StepCursor) -> None:
        """Every number of the recording is looked at, so this goes on beside the first paint."""
        self.call_later(self._found_nan, cursor, not_finite(cursor.timeline))

    def _found_nan(self, cursor: StepCursor, moments: tuple[int, ...]) -> None:
        self._looked_at[cursor.timeline] = moments
        if self.cursor is not None and self.cursor.timeline is cursor.timeline:
            self.not_finite = moments

    def toggle_stop(self, text: str, kind: StopKind) -> None:
        """Set a breakpoint or a watch, or take it away; an empty text means the current node.

        Raises:
            LookupError, ExpressionError: what was typed is neither; the message is for the user.
        """
        cursor, known = self.cursor, self.breakpoints
        if cursor is None or known is None:
            return
        if not text.strip():
            if cursor.focus is None:
                raise LookupError("there is no current node here")
            text = f"%{cursor.focus}"
        self.breakpoints = known.toggle(cursor, text, kind, evaluate=_is_short(cursor))
        what = "breakpoint" if kind == "break" else "watch"
        if len(self.breakpoints.every) < len(known.every):
            self.notify(f"{what} at {text.strip()} is gone", timeout=3)
            return
        new = self.breakpoints.every[-1]
        if not new.is_known:
            self.notify(f"looking where {new.text} holds ...", timeout=3, markup=False)
            self.beside(self._evaluate, cursor, self.breakpoints.unknown)
            return
        self._say(new)

    def _say(self, new: Breakpoint) -> None:
        what, count = "breakpoint" if new.kind == "break" else "watch", len(new.moments)
        times = "once" if count == 1 else f"{count:,} times" if count else "nowhere in this pass"
        keys = f"{self.key('run(1)')} runs on, {self.key('run(-1)')} back"
        self.notify(f"{what} at {new.text}: stops {times}; {keys}", timeout=4, markup=False)

    def _evaluate(self, cursor: StepCursor, conditions: tuple[Condition, ...]) -> None:
        """In a long recording a condition takes a while, and the stepper goes on meanwhile."""
        for condition in conditions:
            self.call_later(self._evaluated, cursor, condition.text, held(cursor.timeline, condition))

    def _evaluated(self, cursor: StepCursor, text: str, moments: tuple[int, ...]) -> None:
        known = self.breakpoints
        if known is not None and known.timeline is cursor.timeline and any(one.text == text for one in known.unknown):
            self.breakpoints = known.known(text, moments)
            self._say(next(one for one in self.breakpoints.every if one.text == text))

    def action_stops(self) -> None:
        """List breakpoints and watches, to go to one or to take one away."""
        self.stop_playing()
        known = self.breakpoints
        if known is None or not known.every:
            stop, watch = self.key("ask('break at')"), self.key("ask('watch')")
            self.notify(f"Nothing is set: {stop} sets a breakpoint, {watch} watches.", timeout=4, markup=False)
            return
        self.app.push_screen(StopsScreen(known, ascii=self._ascii), self._chose)

    def _chose(self, answer: tuple[Breakpoints, Breakpoint | None] | None) -> None:
        if answer is None or self.cursor is None:
            return
        self.breakpoints, chosen = answer
        if chosen is not None and chosen.moments:
            later = (moment for moment in chosen.moments if moment > self.cursor.position)
            self.cursor = self.cursor.to_moment(next(later, chosen.moments[0]))

    def go_until(self, what: str) -> None:
        """To the first moment where it happens: `nan`, `error` or a condition, at which a breakpoint is set."""
        if self.cursor is None:
            return
        timeline = self.cursor.timeline
        if what == "nan":
            moment = first_nan(timeline)
        elif what == "error":
            moment = timeline.last
        else:
            self.breakpoints = (self.breakpoints or Breakpoints(timeline)).toggle(self.cursor, what)
            moment = next(iter(self.breakpoints.moments), None)
        if moment is not None:
            self.cursor = self.cursor.to_moment(moment)

    def action_run(self, by: int) -> None:
        """To the next breakpoint, or the one before."""
        cursor, known = self.cursor, self.breakpoints
        if cursor is None or known is None:
            return
        if not known.every:
            where = "at a node, a line, a name or a condition"
            stop = self.key("ask('break at')")
            self.notify(f"No breakpoint is set: {stop} sets one, {where}.", timeout=4, markup=False)
            return
        moment = known.after(cursor.position) if by > 0 else known.before(cursor.position)
        if moment is None:
            self.notify(f"No breakpoint {'after' if by > 0 else 'before'} this moment.", timeout=3)
            return
        self.cursor = cursor.to_moment(moment)

    def watch_not_finite(self, moments: tuple[int, ...] | None) -> None:
        """Say so in the heading."""
        self.warning = f"NaN or Inf: {self.key('next_nan')}" if moments else ""

    def action_next_nan(self) -> None:
        """To the first moment that computes a NaN or an infinity; from there to the next, around the end."""
        if self.cursor is None:
            return
        moments = self.not_finite
        if moments is None:
            self.notify("The numbers are still being looked at.", timeout=3)
            return
        if not moments:
            self.notify("No NaN and no infinity in this pass.", timeout=3)
            return
        here = self.cursor.position if self.cursor is self._at_nan else -1
        self._at_nan = self.cursor.to_moment(next((m for m in moments if m > here), moments[0]))
        self.cursor = self._at_nan

    # Playing

    def action_play(self) -> None:
        """Step on by itself, or stop."""
        if self._timer is not None:
            self.stop_playing()
            return
        if self.cursor is not None and self.cursor.position < self.cursor.timeline.last:
            self._start()

    def action_faster(self, by: int) -> None:
        """Another speed."""
        self._chosen_speed = min(max(self._chosen_speed + by, 0), len(SPEEDS) - 1)
        if self._timer is not None:
            self.stop_playing()
            self._start()
        else:
            self.notify(
                f"{self.key('play')} plays {SPEEDS[self._chosen_speed]:g} steps a second", timeout=2, markup=False
            )

    def stop_playing(self) -> None:
        """Stand still."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
            self.speed = 0.0

    def _start(self) -> None:
        self.speed = SPEEDS[self._chosen_speed]
        self._timer = self.set_interval(1 / self.speed, self._tick)

    def _tick(self) -> None:
        if self.cursor is None:
            return
        self.cursor = self.cursor.forward()
        if self.cursor.position == self.cursor.timeline.last or self.cursor.position in self.stops:
            self.stop_playing()


def _is_short(cursor: StepCursor) -> bool:
    return cursor.timeline.last <= SHORT
