"""Into the functions of the user's that ran in a step, and out again."""

from __future__ import annotations

from tui.inside.screen import InsideScreen, Left
from tui.stepper.parts.findings import Findings
from tui.stepper.parts.key_declarations import key
from tui.stepper.parts.part import Part, Stepper
from tui.stepper.parts.stops import Stops
from tui.time.calls import CallCursor, caller_of, everywhere
from tui.time.cursor import StepCursor
from tui.widgets.footer import Footer
from tui.words.functions.inside_lines import why_not

INTO = "into your function that ran here: forward, backward, a hook, ...; {step_out} comes out, also of an inner pass"


class SteppingIn(Part[Stepper]):
    """Opens the screen inside of the calls of a moment."""

    def __init__(self, stepper: Stepper, stops: Stops, findings: Findings) -> None:
        super().__init__(stepper)
        self._stops = stops
        self._findings = findings
        stops.arrived = self.open_at_stop

    def follow(self, old: StepCursor | None, new: StepCursor) -> None:
        """Show the key where there is something to step into."""
        has_calls = new.position in new.timeline.calls
        self.stepper.query_one(Footer).unavailable = frozenset() if has_calls else frozenset({"step_into"})

    @key("i", "inside", help=INTO, footer=3)
    def step_into(self) -> None:
        """Open the functions that ran in this step; if one raised, or has a finding, at the step that did it."""
        self.stepper.stop_playing()
        finding = self._findings.explained
        inside = CallCursor.open(self.cursor, finding.kind if finding is not None else None)
        if inside is None:
            self.say(why_not(self.cursor, self.stepper.key("step_into")), 4)
        else:
            self._open(inside)

    @key("u", "out of a pass that a function called", help=INTO)
    def step_out(self) -> None:
        """Go back to the function that called this pass."""
        pass_ = self.cursor.timeline.pass_
        found = caller_of(self.cursor.recording, pass_.index) if pass_ is not None else None
        if found is None:
            self.say("No function of yours called this pass: there is nothing to go back to.", 4)
            return
        moment, inside = found
        self.cursor = self.cursor.to_pass(moment.timeline.pass_index).to_moment(moment.position)
        self._open(inside)

    def open_at_stop(self, by: int) -> None:
        """Open inside, if a run has stopped at a breakpoint in there."""
        calls = self.cursor.timeline.calls.get(self.cursor.position)
        if calls:
            every = everywhere(CallCursor(self.cursor.recording, calls))
            found = [one for one in every if one.begins_line(self._stops.at_line)]
            if found:
                self._open(found[0 if by > 0 else -1])

    def _open(self, inside: CallCursor) -> None:
        keys = self.stepper.key_names.keys
        page = InsideScreen(inside, self.cursor, self._stops, keys=keys, ascii=self.stepper.ascii)
        self.open_page(page, self._left)

    def _left(self, left: Left | None) -> None:
        if left is None:
            return
        if left.pass_ is not None:
            self.cursor = self.cursor.to_pass(left.pass_)
            self.say(f"This is the pass that was called in there. {self.stepper.key('step_out')} goes back.", 4)
        elif left.run:
            self._stops.run(left.run)
