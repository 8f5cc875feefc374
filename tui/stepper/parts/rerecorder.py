"""Editing the program: `e` opens it in the editor; a changed program is recorded again and shown at the same place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from time import monotonic

from textual.app import SuspendNotSupported
from textual.timer import Timer

from microtape.basics.call_site import in_cell
from microtape.errors import RecordingError
from microtape.recording.model.model import Recording
from microtape.recording.script.notebook import text_of_cell
from tui.shell.clipboard import home
from tui.shell.editor import editor_command, run_in_terminal
from tui.shell.opening import Origin
from tui.shell.program_run import ProgramRun
from tui.stepper.parts.key_declarations import key
from tui.stepper.parts.later_passes import LaterPasses
from tui.stepper.parts.part import Part, Stepper
from tui.time.same_place import same_place
from tui.time.source import place_of

LOOKS = 0.5  # seconds between two checks of the files, with --watch
KEPT = "You still see the previous recording."


class Rerecorder(Part[Stepper]):
    """Records the program again after `e`; with `watches`, also whenever one of its files changes."""

    def __init__(
        self, stepper: Stepper, origin: Origin | None, later_passes: LaterPasses, *, watches: bool = False
    ) -> None:
        super().__init__(stepper)
        self.origin = origin  # of the recording that is shown
        self._later_passes = later_passes
        self._watches = watches
        self._tried: Mapping[str, str] = {}  # the program's files at the last attempt to record it
        self._is_recording = False
        self._since = 0.0  # the time at which the program was started
        self._clock: Timer | None = None
        self.run: ProgramRun | None = None  # the last one

    def mounted(self) -> None:
        """Start watching the files, if `watches` is set."""
        if self._watches:
            self.stepper.set_interval(LOOKS, self._look)

    def unmounted(self) -> None:
        """Stop the program: no screen is left to show its recording."""
        if self.run is not None:
            self.run.kill()
            self.run.close()

    # Editing

    @key(
        "e", "edit the line, record again",
        help="edit this line in $EDITOR; saving records the program again",
    )  # fmt: skip
    def edit(self) -> None:
        """Open the editor on the current line; if the program was changed, record it again."""
        self.stepper.stop_playing()
        place = place_of(self.cursor)
        if place is None or self.origin is None:
            self.say("There is no line of source here.", 3)
            return
        if cell := in_cell(place.file):
            self.say(f"This is {cell} of a notebook: change it where you have it open, save it, and record it again.")
            return
        path = self.origin.source(place.file)
        if not path.is_file():
            is_recording = self.origin.is_recording
            why = "This is a recording; its program is not in the same folder" if is_recording else "The file is gone"
            self.say(f"{why}: {home(path)}")
            return
        command = editor_command(path, place.line)
        if not command:
            self.say(f"Set $EDITOR to your editor, or open this file in it: {home(path)}")
            return
        before = text_of(path)
        try:
            with self.stepper.app.suspend():
                problem = run_in_terminal(command)
        except SuspendNotSupported:
            self.say(f"An editor cannot be opened from here. The line is {home(path)}:{place.line}")
            return
        self.stepper.app.refresh(layout=True)
        if problem:
            self.say(problem, severity="warning")
        elif self.origin.is_recording:
            if text_of(path) != before:
                self.say(
                    "Saved. You opened a recording file, which stays unchanged until you record the program again."
                )
        elif text_of(path) != self._known(place.file):
            self._record()

    def _known(self, file: str) -> str:
        """The text of a program's file at the last attempt to record it, else as it was recorded."""
        return self._tried.get(file, normalized(self.cursor.recording.sources.get(file, "")))

    # Watching

    def _look(self) -> None:
        """Record again if a file of the program has changed since it was recorded."""
        if self.origin is None or self._is_recording:
            return
        for file in self.cursor.recording.sources:
            text = text_of(self.origin.source(file))  # None: an editor may be replacing the file just now
            if text is not None and text != self._known(file):
                self._record()
                return

    # Recording

    def _record(self) -> None:
        if self.origin is None or self._is_recording:
            return
        self._is_recording = True
        files = {file: text_of(self.origin.source(file)) for file in self.cursor.recording.sources}
        self._tried = {file: text for file, text in files.items() if text is not None}
        self._since = monotonic()
        self._later_passes.leave()
        before, self.run = self.run, ProgramRun(self.origin, hidden=True)
        if before is not None:
            before.kill()
            before.close()
        self.run.start()
        self._tell()
        self._clock = self.stepper.set_interval(LOOKS / 2, partial(self._wait, self.run))

    def _wait(self, run: ProgramRun) -> None:
        """Show the recording of the first pass as soon as it is there."""
        if not run.there.is_set():
            self._tell()
            return
        if self._clock is not None:
            self._clock.stop()
        self._is_recording = False
        self._recorded(_recording(run))
        if run.first is not None:
            self._later_passes.follow_run(run)

    def _tell(self) -> None:
        """Show how long the program has been running; its total time is unknown."""
        if self.origin is not None:
            seconds = round(monotonic() - self._since)
            took = f": {seconds} s" if seconds else " ..."
            stops = self.stepper.key("escape")
            self.stepper.say_above(f"Recording {Path(self.origin.file).name} again{took}   {stops} stops it")

    def stop(self) -> None:
        """Stop the program that is being recorded; if there is none, remove the banner."""
        if not self._is_recording:
            self.stepper.say_above("")
        elif self.run is not None:
            self.run.kill()

    def _recorded(self, made: Recording | str) -> None:
        """Show the new recording; if there is none, keep the old one and show why."""
        if isinstance(made, str):
            self.stepper.say_above(f"{made}   {KEPT}", bad=True)
        else:
            self.cursor, said = same_place(self.cursor, made)
            self.stepper.say_above("")
            self.say(f"Recorded again{f': {said}' if said else ', at the same place'}.", 5)


def _recording(run: ProgramRun) -> Recording | str:
    """The new recording, or a message that says why there is none."""
    name = Path(run.origin.file).name
    if run.first is None:
        message = run.ended.message if run.ended is not None else run.problem
        return _last_words(name, run.printed.last) or message or f"{name} recorded nothing"
    error = run.first.error
    if error is not None:
        return _last_words(name, run.printed.last) or f"{name} raised {error.type}: {error.message}"
    return run.first


def text_of(path: Path) -> str | None:
    """The text of a file, or of a notebook's cell; None if it cannot be read."""
    try:
        cell = text_of_cell(str(path))
        return normalized(cell if cell is not None else path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecordingError):
        return None


def normalized(text: str) -> str:
    r"""The text with `\n` between its lines and none at its end, so that only other differences count as changes."""
    return "\n".join(text.splitlines())


def _last_words(script: str, lines: Sequence[str]) -> str:
    """`train.py:7 failed: NameError: name 'y' is not defined`, from the end of the program's output."""
    if not lines or not re.match(r"[\w.]+(Error|Exception|Interrupt|Warning)\b|[\w.]+:", lines[-1]):
        return ""
    where = [match for text in lines if (match := re.match(r'\s*File "(.+?)", line (\d+)', text))]
    at = f"{Path(where[-1][1]).name}:{where[-1][2]}" if where else script
    return f"{at} failed: {lines[-1]}"
