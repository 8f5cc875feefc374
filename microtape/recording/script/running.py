"""The process of a script, seen from the process that started it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Callable
from time import monotonic
from typing import Any

from microtape.recording.script.request import PROGRESS, REPORT, RUNNING, STOP, Request

_LOOK = 0.05  # seconds between two looks at a script that goes on
_GRACE = 5.0  # seconds after the search in which the script may finish its pass
_SHORT_GRACE = 2.0  # the same when the user waits for it


class RunningScript:
    """A script that is being recorded. Other threads may stop or kill it."""

    def __init__(self, process: subprocess.Popen[bytes], request: Request) -> None:
        self.process = process
        self.timed_out = False  # whether it was killed because it ran for longer than it may
        self._end_by: float | None = None
        self.was_killed = False  # because it did not come to the end of a pass in time
        self._request = request
        self._stop_by: float | None = None

    def end_after(self, seconds: float) -> None:
        """End the process once it has run for so long."""
        self._end_by = monotonic() + seconds

    def kill(self) -> None:
        """End the process at once."""
        self.process.kill()

    def stop(self) -> None:
        """Stop a script that goes on at the end of its pass; kill it if it does not come to that soon."""
        with contextlib.suppress(OSError), open(self._file(STOP), "wb"):  # no such folder: it has ended
            pass
        self._stop_by = monotonic() + _SHORT_GRACE

    def wait(self, arrived: Callable[[], None], progress: Callable[[int, float], None]) -> int:
        """Wait for the end of the process and return its status as `subprocess` gives it: negative for a signal."""
        while True:
            try:
                return self._wait(arrived, progress) if self._request.search else self._wait_for_end()
            except KeyboardInterrupt:  # the terminal sent it to the script as well, which handles it
                continue

    def _wait_for_end(self) -> int:
        try:
            return self.process.wait(None if self._end_by is None else max(self._end_by - monotonic(), 0))
        except subprocess.TimeoutExpired:
            self.time_out()
            return self.process.wait()

    def time_out(self) -> None:
        """End the process because it has run for longer than it may."""
        self.timed_out = True
        self._end_by = None
        self.process.kill()

    def _wait(self, arrived: Callable[[], None], progress: Callable[[int, float], None]) -> int:
        since: float | None = None  # the beginning of the search
        while True:
            try:
                return self.process.wait(_LOOK)
            except subprocess.TimeoutExpired:
                pass
            if since is None and (report := self.report()) is not None:
                since = monotonic()
                if report["saved"]:
                    arrived()
            if since is not None:
                progress(self.passes(), monotonic() - since)
            if self._end_by is not None and monotonic() >= self._end_by:
                self.time_out()
            elif self._is_late(since) and not self.was_killed:
                self.was_killed = True
                self.process.kill()

    def _is_late(self, since: float | None) -> bool:
        """Whether the script should have come to the end of a pass by now; if it has, whether it should have ended."""
        now = monotonic()
        if self._stop_by is not None and now >= self._stop_by:
            return self._goes_on() or now >= self._stop_by + 3 * _SHORT_GRACE
        return since is not None and now >= since + self._request.search + _GRACE and self._goes_on()

    def _goes_on(self) -> bool:
        report = self.report()
        return report is None or report["ended"] == RUNNING

    def passes(self) -> int:
        """How many passes a script that goes on has run, as far as it has told."""
        try:
            with open(self._file(PROGRESS), encoding="ascii") as file:
                return int(file.read())
        except (OSError, ValueError):  # none yet, or it is being written
            return 1

    def report(self) -> dict[str, Any] | None:
        """The report that the script has left; None if there is none."""
        try:
            with open(self._file(REPORT), encoding="utf-8") as file:
                report: dict[str, Any] = json.load(file)
        except (FileNotFoundError, ValueError):
            return None
        return report

    def _file(self, name: str) -> str:
        return os.path.join(self._request.folder, name)
