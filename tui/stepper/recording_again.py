"""The program changes: `e` opens it in the editor, and what was saved is recorded again, at the same place."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import ClassVar

from textual import work
from textual.app import SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.timer import Timer
from textual.worker import Worker, WorkerState

from microtape.errors import RecordingError
from microtape.recording.model.model import Recording
from tui.shell.clipboard import home
from tui.shell.editor import editor_command, run_in_terminal
from tui.shell.opening import Origin, load_all
from tui.stepper.choosing import ChoosingScreen
from tui.time.same_place import same_place
from tui.time.source import place_of

LOOKS = 0.5  # seconds between two looks at the files, with --watch
KEPT = "What you see is the recording from before."


class AgainScreen(ChoosingScreen):
    """A screen with a cursor whose program can be edited and recorded again: what `e` and `--watch` do."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", "edit the line, record again", show=False),
    ]

    def __init__(self, *, ascii: bool = False, origin: Origin | None = None, watches: bool = False) -> None:
        super().__init__(ascii=ascii)
        self._origin = origin
        self._watches = watches
        self._tried: Mapping[str, str] = {}  # the program's files as they were recorded last, or tried to be
        self._busy = self._stops = False
        self._since = 0.0  # when the program was started
        self._clock: Timer | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def on_mount(self) -> None:
        """Begin to look at the files, if that is wanted."""
        if self._watches:
            self.set_interval(LOOKS, self._look)

    def on_unmount(self) -> None:
        """Nobody waits for the program any more."""
        if self._process is not None:
            self._process.kill()

    def say_above(self, text: str, *, bad: bool = False) -> None:
        """A banner that stays until it is taken away by an empty one."""
        raise NotImplementedError

    # Editing

    def action_edit(self) -> None:
        """Open the editor on the current line; if the program was changed, record it again."""
        self.stop_playing()
        place = place_of(self.cursor) if self.cursor is not None else None
        if place is None or self._origin is None:
            self.notify("There is no line of source here.", timeout=3)
            return
        path = self._origin.source(place.file)
        if not path.is_file():
            why = "This is a recording, and its program is not beside it" if self._origin.is_recording else "It is gone"
            self.notify(f"{why}: {home(path)}", markup=False)
            return
        command = editor_command(path, place.line)
        if not command:
            self.notify(f"Set $EDITOR to your editor, or open this file in it: {home(path)}", markup=False)
            return
        before = _text(path)
        try:
            with self.app.suspend():
                problem = run_in_terminal(command)
        except SuspendNotSupported:
            self.notify(f"An editor cannot be opened from here. The line is {home(path)}:{place.line}", markup=False)
            return
        self.app.refresh(layout=True)
        if problem:
            self.notify(problem, severity="warning", markup=False)
        elif self._origin.is_recording:
            if _text(path) != before:
                self.notify("Saved. This is a recording: it stays as it is until you record the program anew.")
        elif _text(path) != self._known(place.file):
            self._record()

    def _known(self, file: str) -> str:
        """A file of the program as it was recorded, or tried to be."""
        recorded = self.cursor.recording.sources if self.cursor is not None else {}
        return self._tried.get(file, _alike(recorded.get(file, "")))

    # Watching

    def _look(self) -> None:
        """Whether a file of the program has changed since it was recorded."""
        if self.cursor is None or self._origin is None or self._busy:
            return
        for file in self.cursor.recording.sources:
            path = self._origin.source(file)
            text = _text(path) if path.is_file() else None  # an editor may be about to put a new one there
            if text is not None and text != self._known(file):
                self._record()
                return

    # Recording

    def _record(self) -> None:
        if self.cursor is None or self._origin is None or self._busy:
            return
        self._busy, self._stops = True, False
        files = {file: _text(self._origin.source(file)) for file in self.cursor.recording.sources}
        self._tried = {file: text for file, text in files.items() if text is not None}
        self._since = monotonic()
        self._say_how_long()
        self._clock = self.set_interval(1, self._say_how_long)
        self._run_again(self._origin)

    def _say_how_long(self) -> None:
        """How long a program takes nobody knows: what there is to tell is how long it has been running."""
        if self._origin is not None:
            seconds = round(monotonic() - self._since)
            took = f": {seconds} s" if seconds else " ..."
            stops = self.key("escape")
            self.say_above(f"Recording {Path(self._origin.file).name} again{took}   {stops} stops it")

    @work(thread=True, group="again")
    def _run_again(self, origin: Origin) -> Recording | str:
        """The new recording, or why there is none."""
        with tempfile.TemporaryDirectory(prefix="microtape-") as folder, tempfile.TemporaryFile() as output:
            out = str(Path(folder) / "run.tape")
            try:
                ended = origin.record(out, output, self._started)
                recording = load_all(out) if ended.recording is not None else None
            except RecordingError as error:
                return str(error)
            finally:
                self._process = None
            output.seek(0)
            printed = output.read().decode("utf-8", "replace")
        name = Path(origin.file).name
        if recording is None:
            return _last_words(name, printed) or ended.message or f"{name} recorded nothing"
        if recording.error is not None:
            return _last_words(name, printed) or f"{name} raised {recording.error.type}: {recording.error.message}"
        return recording

    def _started(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        if self._stops:
            process.kill()

    def action_stop_recording(self) -> None:
        """Stop the program that is being recorded; otherwise take the banner away."""
        if not self._busy:
            self.say_above("")
            return
        self._stops = True  # also where it has not quite begun
        if self._process is not None:
            self._process.kill()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Show the new recording; or say why there is none, and keep the old one."""
        if event.worker.group != "again" or event.state is not WorkerState.SUCCESS or self.cursor is None:
            return
        self._busy = False
        if self._clock is not None:
            self._clock.stop()
        made = event.worker.result
        if isinstance(made, Recording):
            self.cursor, said = same_place(self.cursor, made)
            self.say_above("")
            self.notify(f"Recorded again{f': {said}' if said else ', at the same place'}.", timeout=5, markup=False)
        else:
            self.say_above(f"{made}   {KEPT}", bad=True)


def _text(path: Path) -> str | None:
    """A file's text; None where it cannot be read."""
    try:
        return _alike(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return None


def _alike(text: str) -> str:
    """The text without what does not matter here: how its lines end, and whether the last one does."""
    return "\n".join(text.splitlines())


def _last_words(script: str, printed: str) -> str:
    """`train.py:7 failed: NameError: name 'y' is not defined`, from what the program printed last."""
    lines = printed.strip().splitlines()
    if not lines or not re.match(r"[\w.]+(Error|Exception|Interrupt|Warning)\b|[\w.]+:", lines[-1]):
        return ""
    where = [match for text in lines if (match := re.match(r'\s*File "(.+?)", line (\d+)', text))]
    at = f"{Path(where[-1][1]).name}:{where[-1][2]}" if where else script
    return f"{at} failed: {lines[-1]}"
