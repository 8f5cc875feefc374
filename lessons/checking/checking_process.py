"""A child process that checks files. It can be started before there is anything to check, and then waits for a job."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, TypeAlias

Engine: TypeAlias = Literal["microtape", "torch"]
"""The package that a file gets when it imports microtape."""

STARTING: dict[Engine, float] = {
    "microtape": 60.0,
    "torch": 300.0,
}  # seconds for the process to reach the first file, on a busy machine
LONGEST = 1 << 24  # bytes that are read as one line of the channel; our own lines are shorter
ENDING = 5.0  # seconds for a process that has closed its channel to end, on a busy machine
IDLE = 0.05  # and for one that gets no more jobs, which is killed if it takes longer
KILLS = 100  # attempts to kill the processes that a file has started
OUTPUT = 20_000  # characters of the file's output that are kept

# The folder of our packages comes first, so that a learner's files cannot hide them; -P keeps the current folder out.
_START = (
    "import sys; sys.path.insert(0, sys.argv[1]); from lessons.checking.observe_child import main; "
    "sys.path.pop(0); main(sys.argv.pop())"
)

End: TypeAlias = Literal["finished", "time", "process"]
"""How a run ended: by itself, stopped by the time limit, or because the file ended its own process."""


class Report(NamedTuple):
    """What a process has reported."""

    events: list[dict[str, Any]]
    ended: End
    status: int | None  # of the process, if it had ended by itself
    output: str  # the beginning of what its files printed, those of earlier jobs too


class CheckingProcess:
    """A process that imports what it needs at once, then does one job after another. It ends with its parent.

    Give the file of a learner a process of its own: it can do anything to the process, and to what runs there later.
    """

    def __init__(self, engine: Engine = "microtape") -> None:
        root = str(Path(__file__).resolve().parents[2])
        self.engine = engine
        self.was_killed = self._is_closed = False
        self._token = secrets.token_hex(16)
        self._lines: queue.Queue[bytes | None] = queue.Queue()  # the lines of the channel that contain our token
        self._printed: list[bytes] = []
        self._folder = tempfile.TemporaryDirectory(prefix="microtape-", ignore_cleanup_errors=True)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-X", "utf8", "-c", _START, root, engine],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self._folder.name,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            start_new_session=True,
        )
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._readers = [
            threading.Thread(target=self._read_channel, args=(self._process.stdout,), daemon=True),
            threading.Thread(target=self._read_output, args=(self._process.stderr,), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> CheckingProcess:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def run(self, job: Mapping[str, Any], seconds: float, *, last: bool) -> Report:
        """Do a job; after the last one, close the process.

        If a file takes more than `seconds`, the process ends, and the reports of later jobs are empty. What files
        printed is complete in the report of the last job.
        """
        assert self._process.stdin is not None
        status = None
        try:
            with contextlib.suppress(BrokenPipeError, ValueError):  # ValueError: it is closed
                self._process.stdin.write(json.dumps({"token": self._token, **job}).encode() + b"\n")
                self._process.stdin.flush()
            events, ended = self._collect(seconds)
            if ended != "finished":
                status = self._end(ENDING if ended == "process" else 0.0)
        finally:
            if last:
                self.close()
        output = b"".join(self._printed).decode("utf-8", "replace")[:OUTPUT]
        return Report(events, ended, status, output)

    def kill(self) -> None:
        """End it at once, from any thread. The job that runs in it ends, unfinished."""
        self.was_killed = True
        if not self._is_closed:
            self._kill()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    @property
    def is_alive(self) -> bool:
        """Whether it waits for a job, or works on one."""
        return self._process.poll() is None

    def close(self) -> None:
        """End it, and everything it has started. Does nothing the second time."""
        if self._is_closed:
            return
        self._end(IDLE)
        self._is_closed = True
        for reader, stream in zip(self._readers, (self._process.stdout, self._process.stderr), strict=True):
            reader.join(1)
            if stream is not None and not reader.is_alive():  # a process that escaped may keep a pipe open
                stream.close()
        self._folder.cleanup()

    def _collect(self, seconds: float) -> tuple[list[dict[str, Any]], End]:
        """The events, until the report is complete, the process ends or the time is up."""
        events: list[dict[str, Any]] = []
        deadline = time.monotonic() + STARTING[self.engine]
        while True:
            try:
                line = self._lines.get(timeout=max(deadline - time.monotonic(), 0))
            except queue.Empty:
                return events, "time"
            if line is None:
                return events, "process"
            event = self._event(line)
            if event is None:
                continue
            if event["event"] == "end":
                return events, "finished"
            if event["event"] == "file":
                deadline = time.monotonic() + seconds
            events.append(event)

    def _event(self, line: bytes) -> dict[str, Any] | None:
        """The event in a line; None if the line does not come from our process."""
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            return None
        ours = isinstance(event, dict) and event.get("token") == self._token
        return event if ours else None

    def _read_channel(self, stream: IO[bytes]) -> None:
        token = self._token.encode()
        while line := stream.readline(LONGEST):
            if token in line:
                self._lines.put(line)
        self._lines.put(None)

    def _read_output(self, stream: IO[bytes]) -> None:
        """Keep the beginning and read on, because a process that fills an unread pipe would block."""
        room = 4 * OUTPUT  # bytes of a character
        for piece in iter(lambda: os.read(stream.fileno(), 65536), b""):
            self._printed.append(piece[:room])
            room -= len(self._printed[-1])

    def _end(self, seconds: float) -> int | None:
        """Kill the process and everything it started; return its status if it ends by itself within that time."""
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()  # it ends where it has no job
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        status = self._process.poll()
        self._kill()
        self._process.wait()
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                for _ in range(KILLS):  # a process being forked just then may have been missed
                    os.killpg(self._process.pid, signal.SIGKILL)
                    time.sleep(0.01)
        return status
