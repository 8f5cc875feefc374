"""Runs files in a child process, applies the checks to them, and returns what they did as plain data."""

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
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, TypeAlias

from lessons.checking.plain_data import Plain
from lessons.model.lesson import Exercise

SECONDS = 10.0  # for a file and all its checks
STARTING = 60.0  # for the process to reach the first file, on a busy machine
MEMORY = 1 << 30  # bytes of address space, if the system can limit it
LONGEST = 1 << 24  # bytes that are read as one line of the channel; our own lines are shorter
KILLS = 100  # attempts to kill the processes that a file has started
OUTPUT = 20_000  # characters of the file's output that are kept

# The folder of our packages comes first, so that a learner's files cannot hide them; -P keeps the current folder out.
_START = (
    "import sys; sys.path.insert(0, sys.argv[1]); from lessons.checking.observe_child import main; "
    "sys.path.pop(0); main()"
)

End: TypeAlias = Literal["finished", "time", "process"]
"""How the run ended: by itself, stopped by the time limit, or because the file ended its own process."""


class Raised(NamedTuple):
    """An exception, and the last line of the learner's file that it passed through, if any."""

    type: str
    message: str
    line: int | None
    code: str

    @property
    def summary(self) -> str:
        """The first line of the message; further lines name files and lines."""
        return self.message.strip().partition("\n")[0]

    @property
    def is_unwritten(self) -> bool:
        """Whether it is the exception that an exercise raises where the learner has to write code."""
        return self.type == NotImplementedError.__name__


class Outcome(NamedTuple):
    """What a check observed: a value or an exception."""

    value: Plain
    raised: Raised | None

    @property
    def is_unwritten(self) -> bool:
        """Whether the check reached a part of the exercise that is not written yet."""
        return self.raised is not None and self.raised.is_unwritten


class Observation(NamedTuple):
    """What a file did."""

    outcomes: dict[str, Outcome]  # by the name of the check; without those that were not reached
    broken: Raised | None  # the exception when the file itself ran, before any check
    ended: End
    during: str | None  # the check in which it ended; None: the file itself
    status: int | None  # of its process, if that ended by itself
    output: str  # the beginning of what it printed


def observe(
    exercise: Exercise, files: Sequence[Path], *, seconds: float = SECONDS, seeds: Sequence[int] = ()
) -> list[Observation]:
    """Check files one after another in one process. Check an untrusted file alone, in a separate call.

    Args:
        exercise: the exercise with the checks.
        files: the files to check.
        seconds: the time limit for each file. After it, the process and everything it has started are killed.
        seeds: for each seed, `at_random` of `check.py` is called as well, with a random generator; its outcomes are
            named `at_random 0` and so on.

    Returns:
        One observation for each file. If the process ends early, the observations of the remaining files are empty.
    """
    job = {
        "token": secrets.token_hex(16),
        "check": str(exercise.check.resolve()),
        "names": [check.name for check in exercise.checks],
        "files": [[str(file.resolve()), _pieced(exercise, file)] for file in files],
        "memory": MEMORY,
        "seeds": list(seeds),
    }
    with tempfile.TemporaryDirectory(prefix="microtape-") as folder:
        return _Observer(job, seconds, folder).run()


def _pieced(exercise: Exercise, file: Path) -> str | None:
    """The whole text of an answer of the course that is written in pieces; None for a file as it stands."""
    answers = (*exercise.right_answers, *exercise.wrong_answers)
    return exercise.text(file) if exercise.continues and any(file == one.path for one in answers) else None


class _Observer:
    """One process from start to end."""

    def __init__(self, job: dict[str, Any], seconds: float, folder: str) -> None:
        self.job = job
        self.seconds = seconds
        self.folder = folder
        self.lines: queue.Queue[bytes | None] = queue.Queue()  # the lines of the channel that contain our token
        self.printed: list[bytes] = []

    def run(self) -> list[Observation]:
        root = str(Path(__file__).resolve().parents[2])
        process = subprocess.Popen(
            [sys.executable, "-P", "-X", "utf8", "-c", _START, root],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            start_new_session=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        readers = [
            threading.Thread(target=self._read_channel, args=(process.stdout,), daemon=True),
            threading.Thread(target=self._read_output, args=(process.stderr,), daemon=True),
        ]
        try:
            for reader in readers:
                reader.start()
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(json.dumps(self.job).encode() + b"\n")
                process.stdin.flush()
            events, ended = self._collect()
        finally:
            status = _end(process)
            for reader, stream in zip(readers, (process.stdout, process.stderr), strict=True):
                reader.join(1)
                if not reader.is_alive():  # a process that escaped may keep a pipe open
                    stream.close()
        return self._observations(events, ended, status)

    def _collect(self) -> tuple[list[dict[str, Any]], End]:
        """The events, until the report is complete, the process ends or the time is up."""
        events: list[dict[str, Any]] = []
        deadline = time.monotonic() + STARTING
        while True:
            try:
                line = self.lines.get(timeout=max(deadline - time.monotonic(), 0))
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
                deadline = time.monotonic() + self.seconds
            events.append(event)

    def _event(self, line: bytes) -> dict[str, Any] | None:
        """The event in a line; None if the line does not come from our process."""
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            return None
        ours = isinstance(event, dict) and event.get("token") == self.job["token"]
        return event if ours else None

    def _observations(self, events: list[dict[str, Any]], ended: End, status: int | None) -> list[Observation]:
        files: list[list[dict[str, Any]]] = []
        for event in events:
            if event["event"] == "file":
                files.append([])
            elif files:
                files[-1].append(event)
        output = b"".join(self.printed).decode("utf-8", "replace")[:OUTPUT]
        observations = []
        for number in range(len(self.job["files"])):
            last = number >= len(files) - 1
            own = files[number] if number < len(files) else []
            observations.append(_observation(own, ended if last else "finished", status, output))
        return observations

    def _read_channel(self, stream: IO[bytes]) -> None:
        token = self.job["token"].encode()
        while line := stream.readline(LONGEST):
            if token in line:
                self.lines.put(line)
        self.lines.put(None)

    def _read_output(self, stream: IO[bytes]) -> None:
        """Keep the beginning and read on, because a process that fills an unread pipe would block."""
        room = 4 * OUTPUT  # bytes of a character
        for piece in iter(lambda: os.read(stream.fileno(), 65536), b""):
            self.printed.append(piece[:room])
            room -= len(self.printed[-1])


def _observation(events: list[dict[str, Any]], ended: End, status: int | None, output: str) -> Observation:
    outcomes: dict[str, Outcome] = {}
    broken: Raised | None = None
    during: str | None = None
    for event in events:
        if event["event"] == "begin":
            during = event["name"]
        elif event["event"] == "observed":
            outcomes[event["name"]] = Outcome(event["value"], None)
        elif event["event"] == "raised":
            raised = Raised(event["type"], event["message"], event["line"], event["code"])
            if during is None:
                broken = raised
            else:
                outcomes[during] = Outcome(None, raised)
    return Observation(outcomes, broken, ended, during, status if ended == "process" else None, output)


def _end(process: subprocess.Popen[bytes]) -> int | None:
    """Kill the process and everything it started; return its status if it had ended by itself."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(0.05)  # a process that has just closed its channel is about to end
    status = process.poll()
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            for _ in range(KILLS):  # a process being forked just then may have been missed
                os.killpg(process.pid, signal.SIGKILL)
                time.sleep(0.01)
    if process.stdin is not None:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
    return status
