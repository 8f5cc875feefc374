"""Checks the derivative of a node: its program runs again, with finite differences at this step alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import monotonic

from textual.timer import Timer

from tui.shell.opening import Origin
from tui.shell.program_run import ProgramRun
from tui.shell.spans import plain
from tui.stepper.derivative_screen import DerivativeScreen
from tui.stepper.parts.key_declarations import key
from tui.stepper.parts.part import Part, Stepper
from tui.stepper.parts.rerecorder import normalized, text_of
from tui.time.checked_again import Checked, CheckedStep, with_checks
from tui.time.cursor import StepCursor
from tui.time.timeline import Timeline
from tui.words.differences import checks_of
from tui.words.titles import title

LOOK = 0.2  # seconds between two looks at the program


class DerivativeCheck(Part[Stepper]):
    """Opens the page with the check of the current node; without a check, runs the program again to make it."""

    def __init__(self, stepper: Stepper, origin: Origin | None) -> None:
        super().__init__(stepper)
        self.origin = origin  # of the recording that is shown
        self._wanted: CheckedStep | None = None  # the step that is being checked
        self._since = 0.0
        self._clock: Timer | None = None
        self.run: ProgramRun | None = None  # the last one

    def unmounted(self) -> None:
        """Stop the program: no screen is left to show its check."""
        self._end()

    @key(
        "D", "check this node's derivative",
        help="check this node's derivative against finite differences of its forward",
    )  # fmt: skip
    def derivative(self) -> None:
        """Show the check of the current node, made now if it was not made while recording."""
        self.stepper.stop_playing()
        cursor, node = self.cursor, self.cursor.focus
        problem = _cannot(cursor, node)
        if problem or node is None:
            self.say(problem, 5)
        elif checks_of(cursor, node) is not None:
            self._open(cursor, node)
        elif problem := self._cannot_run(cursor):
            self.say(problem, 8)
        else:
            self._start(cursor, node)

    def stop(self) -> bool:
        """Stop the program that is being checked. Returns whether there was one."""
        if self._wanted is None:
            return False
        self._end()
        self.stepper.say_above("")
        return True

    def _cannot_run(self, cursor: StepCursor) -> str:
        """Why the program cannot run again, in a sentence; empty if it can."""
        title = cursor.recording.title
        if self.origin is None or self.origin.is_recording:
            return f"A recording cannot run its program again: `microtape step {title}`, or record it with --check."
        for file, text in cursor.recording.sources.items():
            if text_of(self.origin.source(file)) != normalized(text):
                edit = self.stepper.key("edit")
                return f"{file} has changed since it was recorded: record it again ({edit}), then check it."
        return ""

    def _start(self, cursor: StepCursor, node: int) -> None:
        assert self.origin is not None
        self._end()
        self._wanted = wanted = _step(cursor, node)
        origin = replace(
            self.origin,
            passes=str(wanted.pass_ + 1),
            until=None,
            every=None,
            search=0,
            check=(wanted.pass_, wanted.step),
        )
        self._since = monotonic()
        self.run = ProgramRun(origin, hidden=True)
        self.run.start()
        self._tell()
        self._clock = self.stepper.set_interval(LOOK, self._look)

    def _end(self) -> None:
        """Stop waiting for the program, and end it."""
        self._wanted = None
        if self._clock is not None:
            self._clock.stop()
            self._clock = None
        if self.run is not None:
            self.run.kill()
            self.run.close()
            self.run = None

    def _tell(self) -> None:
        """Show how long the program has been running; its total time is unknown."""
        if self.origin is not None and self._wanted is not None:
            seconds = round(monotonic() - self._since)
            took = f": {seconds} s" if seconds else " ..."
            name = Path(self.origin.file).name
            stops = self.stepper.key("escape")
            self.stepper.say_above(f"Checking {self._wanted.name}, running {name} again{took}   {stops} stops it")

    def _look(self) -> None:
        run, wanted = self.run, self._wanted
        if run is None or wanted is None:
            return
        if not run.over.is_set():
            self._tell()
            return
        made, message = run.first, run.problem or (run.ended.message if run.ended is not None else "")
        self._end()
        self.stepper.say_above("")
        if made is None:
            self.say(f"{wanted.name} could not be checked: {message or 'the program recorded nothing'}.", 8)
            return
        found = with_checks(self.cursor.recording, made, wanted)
        if isinstance(found, str):
            self.say(f"{wanted.name} could not be checked: {found}", 8)
        else:
            self._show(found)

    def _show(self, found: Checked) -> None:
        """Open the page. The checks join the recording that is shown, if its numbers came again."""
        if found.is_same:
            self.cursor = replace(self.cursor, timeline=Timeline(found.recording, self.cursor.timeline.pass_index))
        else:
            self.say("The program computed other numbers this time: the page shows those. A seed keeps them.", 8)
        index = next(i for i, one in enumerate(found.recording.passes) if one.index == found.pass_)
        self._open(StepCursor.open(found.recording, index), found.node)

    def _open(self, cursor: StepCursor, node: int) -> None:
        self.open_page(DerivativeScreen(cursor, node, ascii=self.stepper.ascii))


def _cannot(cursor: StepCursor, node: int | None) -> str:
    """Why there is nothing to check, in a sentence; empty if there is."""
    if node is None:
        return "There is no node here whose derivative could be checked."
    name = _name(cursor, node)
    if cursor.timeline.node(node).variable is not None:
        return f"{name} is a leaf: nothing is computed there, so there is no derivative to check."
    step = cursor.timeline.step_of.get(node)
    if step is None:
        return f"Backward does not evaluate {name} in this pass, so it has no gradient to check."
    if step.error is not None:
        return f"{name} failed in this pass, so it has no gradient to check."
    return ""


def _step(cursor: StepCursor, node: int) -> CheckedStep:
    pass_, record = cursor.timeline.pass_, cursor.timeline.node(node)
    assert pass_ is not None  # the node has a step
    return CheckedStep(pass_.index, cursor.timeline.step_of[node].index, record.op, record.place, _name(cursor, node))


def _name(cursor: StepCursor, node: int) -> str:
    return plain(title(cursor, node))
