"""Breakpoints and watches: the user sets and lists them, and runs from one to the next."""

from __future__ import annotations

from collections.abc import Callable

from microtape.recording.choosing.condition import Condition
from microtape.recording.model.model import Place
from tui.stepper.parts.background import Background
from tui.stepper.parts.key_declarations import answers, key
from tui.stepper.parts.part import Part, Stepper
from tui.stepper.stops_screen import StopsScreen
from tui.time.breakpoints import Breakpoint, Breakpoints, StopKind, first_nan, held
from tui.time.cursor import StepCursor
from tui.widgets.prompt import Purpose

SHORT = 2_000  # moments: in a pass up to this length, a condition is evaluated at once
SET = "stop at a node, name, line or condition (grad.max() > 10); watch: stop when a tensor changes"
RUN = "run to the next stop, or back to the previous one"


class Stops(Part[Stepper]):
    """The moments at which a run stops."""

    def __init__(self, stepper: Stepper, background: Background) -> None:
        super().__init__(stepper)
        self._background = background
        self._breakpoints: Breakpoints | None = None
        self.arrived: Callable[[int], None] = lambda by: None  # called when a run has stopped, with its direction
        self.moments: tuple[int, ...] = ()
        self.nodes: frozenset[int] = frozenset()

    @property
    def breakpoints(self) -> Breakpoints:
        """All breakpoints and watches, on the pass that is shown."""
        return self._breakpoints or Breakpoints(self.cursor.timeline)

    @breakpoints.setter
    def breakpoints(self, breakpoints: Breakpoints) -> None:
        self._breakpoints = breakpoints
        self.moments, self.nodes = breakpoints.moments, breakpoints.nodes
        self.stepper.changed()

    def follow(self, old: StepCursor | None, new: StepCursor) -> None:
        """Find the moments of the same breakpoints in another pass."""
        if old is None or old.timeline is not new.timeline:
            self.breakpoints = self.breakpoints.on(new, evaluate=_is_short(new))
            self._background.start(self._evaluate, new, self.breakpoints.unknown)

    # Setting breakpoints

    @answers(
        Purpose("break at", "Enter: this node; or mul, w1, :7, grad.max() > 10", may_be_empty=True),
        "b", "set or remove a breakpoint", help=SET,
    )  # fmt: skip
    def break_at(self, text: str) -> None:
        """Set or remove a breakpoint; see `toggle`."""
        self.toggle(text, "break")

    @answers(
        Purpose("watch", "Enter: this node; or a name such as w1", may_be_empty=True),
        "w", "watch a tensor or leaf", help=SET,
    )  # fmt: skip
    def watch(self, text: str) -> None:
        """Set or remove a watch; see `toggle`."""
        self.toggle(text, "watch")

    def toggle(self, text: str, kind: StopKind) -> None:
        """Set a breakpoint or a watch, or remove it; an empty text means the current node.

        Raises:
            LookupError, ExpressionError: the text is neither a place nor a condition; the message is for the user.
        """
        if not text.strip():
            if self.cursor.focus is None:
                raise LookupError("there is no current node here")
            text = f"%{self.cursor.focus}"
        before = self.breakpoints
        self.breakpoints = before.toggle(self.cursor, text, kind, evaluate=_is_short(self.cursor))
        if len(self.breakpoints.every) < len(before.every):
            self.say(f"removed the {_word(kind)} at {text.strip()}", 3)
            return
        new = self.breakpoints.every[-1]
        if new.is_known:
            self._announce(new)
        else:
            self.say(f"evaluating {new.text} at every step ...", 3)
            self._background.start(self._evaluate, self.cursor, self.breakpoints.unknown)

    def _announce(self, new: Breakpoint) -> None:
        count, key = len(new.moments), self.stepper.key
        times = "once" if count == 1 else f"{count:,} times" if count else "nowhere in this pass"
        keys = f"{key('run(1)')} runs forward, {key('run(-1)')} back"
        self.say(f"{_word(new.kind)} at {new.text}: stops {times}; {keys}", 4)

    def _evaluate(self, cursor: StepCursor, conditions: tuple[Condition, ...]) -> None:
        """Evaluate conditions; runs in a thread, because a long recording takes a while."""
        for condition in conditions:
            self.stepper.call_later(self._evaluated, cursor, condition.text, held(cursor.timeline, condition))

    def _evaluated(self, cursor: StepCursor, text: str, moments: tuple[int, ...]) -> None:
        known = self.breakpoints
        if known.timeline is cursor.timeline and any(one.text == text for one in known.unknown):
            self.breakpoints = known.known(text, moments)
            self._announce(next(one for one in self.breakpoints.every if one.text == text))

    @key(
        "B", "list breakpoints and watches",
        help="list breakpoints and watches, to go to or remove them; pane {show_pane('watch')} shows them",
    )  # fmt: skip
    def stops(self) -> None:
        """List breakpoints and watches; the user goes to one or removes some."""
        self.stepper.stop_playing()
        if self.breakpoints.every:
            self.open_page(StopsScreen(self.breakpoints, ascii=self.stepper.ascii), self._chosen)
        else:
            stop, watch = self.stepper.key("ask('break at')"), self.stepper.key("ask('watch')")
            self.say(f"No breakpoint or watch is set: {stop} sets a breakpoint, {watch} a watch.", 4)

    def _chosen(self, answer: tuple[Breakpoints, Breakpoint | None] | None) -> None:
        if answer is None:
            return
        self.breakpoints, chosen = answer
        if chosen is not None and chosen.moments:
            later = (moment for moment in chosen.moments if moment > self.cursor.position)
            self.cursor = self.cursor.to_moment(next(later, chosen.moments[0]))

    # Running

    @key("c", "run to the next breakpoint", 1, help=RUN)
    @key("C", "run back to the previous breakpoint", -1, help=RUN)
    def run(self, by: int) -> None:
        """Go to the next or the previous stop."""
        if not self.breakpoints.every:
            stop = self.stepper.key("ask('break at')")
            self.say(f"No breakpoint is set: {stop} sets one, at a node, a line, a name or a condition.", 4)
            return
        position = self.cursor.position
        moment = self.breakpoints.after(position) if by > 0 else self.breakpoints.before(position)
        if moment is None:
            self.say(f"No breakpoint {'after' if by > 0 else 'before'} this moment.", 3)
        else:
            self.cursor = self.cursor.to_moment(moment)
            self.arrived(by)

    # Inside of functions

    def at_line(self, place: Place | None) -> bool:
        """Whether a breakpoint is on the line of a place."""
        return self.breakpoints.at_line(place)

    def toggle_line(self, text: str) -> str:
        """Set or remove the breakpoint of a line. Returns what to tell the user."""
        before = self.breakpoints
        try:
            self.breakpoints = before.toggle(self.cursor, text)
        except LookupError as problem:
            return str(problem.args[0])
        return f"{'set' if len(self.breakpoints.every) > len(before.every) else 'removed'} the breakpoint at {text}"

    def run_until(self, what: str) -> None:
        """Go to the first moment of `nan`, `error` or a condition; a condition becomes a breakpoint."""
        timeline = self.cursor.timeline
        moment: int | None
        if what == "nan":
            moment = first_nan(timeline)
        elif what == "error":
            moment = timeline.last
        else:
            self.breakpoints = self.breakpoints.toggle(self.cursor, what)
            moment = next(iter(self.moments), None)
        if moment is not None:
            self.cursor = self.cursor.to_moment(moment)


def _word(kind: StopKind) -> str:
    return "breakpoint" if kind == "break" else "watch"


def _is_short(cursor: StepCursor) -> bool:
    return cursor.timeline.last <= SHORT
