"""Checks the file of one exercise again and again, as fast as it can be told."""

from __future__ import annotations

import threading
from pathlib import Path

from lessons.checking.checking_process import CheckingProcess
from lessons.checking.expected import Expected
from lessons.checking.in_pytorch import run_in_pytorch
from lessons.checking.verdict import Verdict, check
from lessons.checking.verdict_report import Said
from lessons.model.header import LessonError
from lessons.model.lesson import Exercise


class WarmChecker:
    """Does what can be done before the learner asks: the solution has run, and a process waits for the file.

    Its methods may be called in any thread. A new check ends one that still runs, which then has no verdict.
    """

    def __init__(self, exercise: Exercise) -> None:
        self._exercise = exercise
        self._lock = threading.Lock()  # of one check, which holds it to its end
        self._expected: Expected | None = None
        self._spare: CheckingProcess | None = None
        self._running: list[CheckingProcess] = []  # with a learner's file in it
        self._is_closed = False

    def prepare(self) -> None:
        """Start the processes, and run the solution. An error is left to `check`, which raises it."""
        with self._lock:
            if self._is_closed or self._expected is not None:
                return
            self._spare = CheckingProcess()
            self._expected = Expected(self._exercise)
            try:
                assert self._expected.outcomes
            except LessonError:
                self._forget()

    def check(self, file: Path, *, start: str = "") -> Verdict:
        """Check the file; see `verdict.check`, also for the exceptions."""
        self.stop()
        with self._lock:
            process = self._spare if self._spare is not None and self._spare.is_alive else CheckingProcess()
            self._spare = None
            if self._expected is None:
                self._expected = Expected(self._exercise)
            self._running.append(process)
            try:
                return check(self._exercise, file, expected=self._expected, process=process, start=start)
            except LessonError:
                self._forget()  # it is run again when the lesson may be mended
                raise
            finally:
                self._running.remove(process)
                process.close()
                if not self._is_closed:
                    self._spare = CheckingProcess()

    def in_pytorch(self, file: Path) -> Said | None:
        """A line about a file that has passed; see `run_in_pytorch`."""
        started: list[CheckingProcess] = []

        def start(process: CheckingProcess) -> None:
            started.append(process)
            self._running.append(process)
            if self._is_closed:
                process.kill()

        try:
            return run_in_pytorch(self._exercise, file, start)
        finally:
            for process in started:
                self._running.remove(process)

    def stop(self) -> None:
        """End the check that runs, if there is one, here and in PyTorch."""
        for process in [*self._running]:
            process.kill()

    def close(self) -> None:
        """End all processes."""
        self._is_closed = True
        self.stop()
        if (expected := self._expected) is not None:
            expected.stop()
        with self._lock:
            self._forget()
            if self._spare is not None:
                self._spare.close()
                self._spare = None

    def _forget(self) -> None:
        if self._expected is not None:
            self._expected.close()
            self._expected = None
