"""A run of a program for the stepper: its first pass is there long before the search for a finding is over."""

from __future__ import annotations

import os
import signal
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType

from microtape.errors import RecordingError
from microtape.recording.model.model import Recording
from microtape.recording.script.ending import ScriptRun
from microtape.recording.script.running import RunningScript
from tui.shell.exits import say
from tui.shell.opening import Origin, load_all
from tui.shell.printed_lines import PrintedLines
from tui.shell.printing import put_error
from tui.shell.progress import status_line

_LOOK = 0.1  # seconds
_SHOWN = 10  # lines of output that are printed when the stepper has closed


class ProgramRun:
    """Records a program in a thread. `there` is set with `first`, `over` with `later` and `ended`.

    With `hidden`, nothing that the program prints reaches the terminal; else nothing after its first pass.
    """

    def __init__(self, origin: Origin, *, hidden: bool = False) -> None:
        self.origin = origin
        self.first: Recording | None = None
        self.of_processes: list[Recording] = []  # instead of `first`, if its passes ran in several processes
        self.later: Recording | None = None  # if later passes show something: the first pass, and those
        self.ended: ScriptRun | None = None
        self.problem = ""  # why nothing could be run or read
        self.passes = 1
        self.there, self.over = threading.Event(), threading.Event()
        self._hidden = hidden
        self._folder = tempfile.TemporaryDirectory(prefix="microtape-", ignore_cleanup_errors=True)
        self._out, output = (str(Path(self._folder.name) / name) for name in ("run.tape", "output"))
        self._output = output
        self.printed = PrintedLines(Path(output))
        self._script: RunningScript | None = None
        self._is_killed = False

    def start(self) -> None:
        """Start the program."""
        threading.Thread(target=self._run, name="microtape-program", daemon=True).start()

    def stop(self) -> None:
        """Stop the program at the end of its pass, or soon."""
        if self._script is not None:
            self._script.stop()

    def kill(self) -> None:
        """End the program at once."""
        self._is_killed = True  # it may not have started yet
        if self._script is not None:
            self._script.kill()

    def close(self) -> None:
        """Stop the program, and wait for its end. Ctrl-C ends it at once."""
        self.stop()
        self._wait(self.over, self.kill)
        self.printed.follow()
        self._folder.cleanup()

    def wait_for_first(self) -> None:
        """Wait for the end of the first pass, or of the program."""
        self._wait(self.there, lambda: None)  # the terminal sends Ctrl-C to the program, too

    @staticmethod
    def _wait(event: threading.Event, interrupted: Callable[[], None]) -> None:
        while not event.is_set():
            try:
                event.wait(_LOOK)
            except KeyboardInterrupt:
                interrupted()

    def _run(self) -> None:
        try:
            if self._hidden:
                with open(self._output, "wb") as output:
                    self.ended = self.origin.record(
                        self._out, output, self._started, arrived=self._arrived, progress=self._progress
                    )
            else:
                self.ended = self.origin.record(
                    self._out, None, self._started, self._output, arrived=self._arrived, progress=self._progress
                )
            self.printed.follow()
            if len(self.ended.files) > 1:
                self.of_processes = [load_all(file) for file in self.ended.files]
            elif self.ended.files:
                self._ended(self.ended)
        except RecordingError as error:
            self.problem = str(error)
        finally:
            self.there.set()
            self.over.set()

    def _ended(self, ended: ScriptRun) -> None:
        if self.first is None:
            self.first = load_all(ended.files[0])  # perhaps that of its only process with a pass
        elif ended.search is not None and ended.search.kept_later:
            self.later = load_all(self._out)

    def _started(self, script: RunningScript) -> None:
        self._script = script
        if self._is_killed:
            script.kill()

    def _arrived(self) -> None:
        self.first = load_all(self._out)
        self.there.set()

    def _progress(self, passes: int, seconds: float) -> None:
        self.passes = passes
        self.printed.follow()


class Watched:
    """While a run is open, the signals that end this process end the program, too: nobody would see it run on."""

    def __init__(self, run: ProgramRun) -> None:
        self._run = run
        self._before: dict[int, Callable[[int, FrameType | None], object] | int | None] = {}

    def __enter__(self) -> ProgramRun:
        names = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
        self._before = {name: signal.signal(name, self._end) for name in names}
        self._run.start()
        return self._run

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with status_line(f"stopping {self._run.origin.file} ...   Ctrl-C ends it at once"):
            self._run.close()
        for name, handler in self._before.items():
            signal.signal(name, handler)

    def _end(self, number: int, frame: FrameType | None) -> None:
        self._run.kill()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)


def say_printed(run: ProgramRun) -> None:
    """Print the last lines that the program printed unseen, on standard error, and how many there were."""
    lines = run.printed.last
    if not lines:
        return
    count, shown = max(run.printed.count, len(lines)), lines[-_SHOWN:]
    last = f"; the last {len(shown)}" if count > len(shown) else ""
    say(f"{Path(run.origin.file).name} printed {count:,} {'line' if count == 1 else 'lines'} meanwhile{last}:")
    put_error("\n".join(shown))
