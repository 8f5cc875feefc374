"""The program goes on while its first pass is shown: a finding in a later pass arrives as a notice."""

from __future__ import annotations

from pathlib import Path

from textual.timer import Timer

from microtape.recording.findings import Finding, findings
from microtape.recording.model.model import ErrorRecord, Recording
from tui.shell.program_run import ProgramRun
from tui.stepper.output_screen import OutputScreen
from tui.stepper.parts.key_declarations import key
from tui.stepper.parts.part import Part, Stepper
from tui.time.same_place import same_place

LOOK = 0.2  # seconds between two looks at the program


class LaterPasses(Part[Stepper]):
    """Follows a run of the program to the end of its search, and shows what was found."""

    def __init__(self, stepper: Stepper, run: ProgramRun | None = None) -> None:
        super().__init__(stepper)
        self.doing = ""
        self._run = run
        self._clock: Timer | None = None

    def mounted(self) -> None:
        """Follow the run that the stepper was opened with."""
        if self._run is not None:
            self.follow_run(self._run)

    def unmounted(self) -> None:
        """Stop the program; the command waits for its end."""
        self._stop()

    def follow_run(self, run: ProgramRun) -> None:
        """Follow a run whose first pass is shown, instead of the previous one."""
        if run is not self._run:
            self._stop()
        self._run = run
        self._clock = self.stepper.set_interval(LOOK, self._look)
        self._look()

    def leave(self) -> None:
        """Stop the program that is followed. What it has printed stays."""
        self._stop()
        self._show("")

    def _stop(self) -> None:
        if self._clock is not None:
            self._clock.stop()
            self._clock = None
        if self._run is not None:
            self._run.stop()

    @key("O", "show what the program prints", help="show what the program has printed since the first pass")
    def output(self) -> None:
        """Open the page with the program's output."""
        run = self._run
        if run is None:
            self.say("No program is running: this recording was made before.", 3)
        elif not run.printed.last:
            self.say("The program has printed nothing since its first pass.", 3)
        else:
            name = Path(run.origin.file).name
            self.open_page(OutputScreen(f"output of {name}", run.printed, ascii=self.stepper.ascii))

    def _look(self) -> None:
        run = self._run
        if run is None or self._clock is None:
            return
        if not run.over.is_set():
            self._show(f"searching, pass {run.passes:,}")
            return
        self._clock.stop()
        self._clock = None
        self._show("")
        self._over(run)

    def _over(self, run: ProgramRun) -> None:
        """Show what was found; if it was nothing, say so only if the program was stopped."""
        found, known = run.later, {one.headline for one in findings(self.cursor.recording)}
        if found is not None:
            self.cursor, _ = same_place(self.cursor, found)
        end = run.ended.search if run.ended is not None else None
        if end is None:
            return
        recording = self.cursor.recording
        if end.why in ("found", "failed"):
            if end.passes > 1 or recording.error is not None:  # else the line of findings says it already
                self.say(self._news(recording, known), 15, severity="warning")
        elif found is not None and not known.issuperset(one.headline for one in findings(found)):
            self.say(self._news(recording, known), 15, severity="warning")
        elif found is not None and not findings(found):
            self.say("Later passes show that nothing was wrong in the first one.", 5)
        elif end.why == "time over":
            self.say(f"Nothing was found in the {end.passes - 1:,} passes after the first.", 5)
        elif end.why in ("killed", "finished") and run.ended is not None and run.ended.message:
            self.say(run.ended.message, 5)

    def _news(self, recording: Recording, known: set[str]) -> str:
        """What was found in the last pass, or after it, and the key that goes there.

        `known` are headlines of what was found before.
        """
        last, error, goes = recording.passes[-1], recording.error, self.stepper.key("next_finding")
        found = sorted(findings(recording), key=lambda one: _rank(one, recording, known))
        if error is not None:
            failed = f"The program failed after pass {last.index + 1}{_said(error)}."
            if any(one.severity != "notice" for one in found):
                return f"{failed} {goes} goes there."
            other = f" {goes} goes to what was found before." if found else ""
            return f"{failed} {self.stepper.key('output')} shows what it printed.{other}"
        if found:
            number = recording.passes[found[0].pass_].index if found[0].pass_ is not None else last.index
            return f"Pass {number + 1}: {found[0].headline}. {goes} goes there."
        return f"Pass {last.index + 1} failed: {last.error.type}." if last.error is not None else "Something was found."

    def _show(self, doing: str) -> None:
        if doing != self.doing:
            self.doing = doing
            self.stepper.changed()


def _said(error: ErrorRecord) -> str:
    """`, at train.py:12: ValueError: no data`"""
    place, lines = dict(error.places).get("raised"), error.message.splitlines()
    at = f", at {place.at_name}" if place is not None else ""
    return f"{at}: {error.type}" + (f": {lines[0].rstrip('.')}" if lines else "")


def _rank(one: Finding, recording: Recording, known: set[str]) -> tuple[bool, bool, bool]:
    """The lowest for a finding that is new, serious, and in the last pass."""
    return one.headline in known, one.severity == "notice", one.pass_ != len(recording.passes) - 1
