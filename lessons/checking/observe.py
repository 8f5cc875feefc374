"""Trying files: each is run in a process of its own, given to the checks, and what it did comes back as plain data."""

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

from lessons.checking.plain import Plain
from lessons.model.lesson import Exercise

SECONDS = 10.0  # for a file and all its checks
STARTING = 60.0  # for the process until it comes to the first file, on a machine that has much else to do
MEMORY = 1 << 30  # bytes of address space, where the system can limit it
LONGEST = 1 << 24  # bytes of a line in the channel; ours are shorter
KILLS = 100  # how often what a file has started is killed before we give up
OUTPUT = 20_000  # characters of what the file prints that are kept

# The folder of our packages is put first, so that a learner's files cannot hide ours; -P keeps the current one off.
_START = "import sys; sys.path.insert(0, sys.argv[1]); from lessons.checking.child import main; sys.path.pop(0); main()"

End: TypeAlias = Literal["finished", "time", "process"]
"""How it ended: by itself, stopped after the time it had, or because the file ended its own process."""


class Raised(NamedTuple):
    """An exception, with the last line of the learner's own file that it came through, if any."""

    type: str
    message: str
    line: int | None
    code: str

    @property
    def summary(self) -> str:
        """The first line of the message; those below it name files and lines."""
        return self.message.strip().partition("\n")[0]

    @property
    def is_unwritten(self) -> bool:
        """Whether it is what an exercise raises where something is to be written."""
        return self.type == NotImplementedError.__name__


class Outcome(NamedTuple):
    """What a check saw: a value, or an exception."""

    value: Plain
    raised: Raised | None

    @property
    def is_unwritten(self) -> bool:
        """Whether it came to a part of the exercise that is not written yet."""
        return self.raised is not None and self.raised.is_unwritten


class Observation(NamedTuple):
    """What a file did."""

    outcomes: dict[str, Outcome]  # by the name of the check; those that were not reached are missing
    broken: Raised | None  # the file itself could not be run, so no check was reached
    ended: End
    during: str | None  # where it ended: the name of the check, None for the file itself
    status: int | None  # of its process, where that ended by itself
    output: str  # what it printed, the beginning


def observe(
    exercise: Exercise, files: Sequence[Path], *, seconds: float = SECONDS, seeds: Sequence[int] = ()
) -> list[Observation]:
    """Try files, one after the other in one process; give a file that you do not trust a call of its own.

    Args:
        exercise: whose checks to use.
        files: what to try.
        seconds: how long each may take. After that the process is stopped, and everything that it has started with it.
        seeds: for each of them, besides the checks, `at_random` of `check.py` is called with a generator of random
            numbers; its outcomes are named `at_random 0` and so on.

    Returns:
        One observation a file. Where the process ended early, the files after that have an empty one.
    """
    order = {
        "word": secrets.token_hex(16),
        "check": str(exercise.check.resolve()),
        "names": [check.name for check in exercise.checks],
        "files": [str(file.resolve()) for file in files],
        "memory": MEMORY,
        "seeds": list(seeds),
    }
    with tempfile.TemporaryDirectory(prefix="microtape-") as folder:
        return _Observer(order, seconds, folder).run()


class _Observer:
    """One process from start to end."""

    def __init__(self, order: dict[str, Any], seconds: float, folder: str) -> None:
        self.order = order
        self.seconds = seconds
        self.folder = folder
        self.lines: queue.Queue[bytes | None] = queue.Queue()  # of the channel, those with our word in them
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
                process.stdin.write(json.dumps(self.order).encode() + b"\n")
                process.stdin.flush()
            events, ended = self._collect()
        finally:
            status = _end(process)
            for reader, stream in zip(readers, (process.stdout, process.stderr), strict=True):
                reader.join(1)
                if not reader.is_alive():  # what escaped us may keep a pipe open
                    stream.close()
        return self._observations(events, ended, status)

    def _collect(self) -> tuple[list[dict[str, Any]], End]:
        """The events until the end of the report, of the process or of the time, whichever comes first."""
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
        """The event in a line, None where it is not one of ours."""
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            return None
        ours = isinstance(event, dict) and event.get("word") == self.order["word"]
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
        for number in range(len(self.order["files"])):
            last = number >= len(files) - 1
            own = files[number] if number < len(files) else []
            observations.append(_observation(own, ended if last else "finished", status, output))
        return observations

    def _read_channel(self, stream: IO[bytes]) -> None:
        word = self.order["word"].encode()
        while line := stream.readline(LONGEST):
            if word in line:
                self.lines.put(line)
        self.lines.put(None)

    def _read_output(self, stream: IO[bytes]) -> None:
        """Keep the beginning, and go on reading: whoever fills a pipe that nobody empties stands still."""
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
    """End the process and what it started, and return its status if it had ended by itself."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(0.05)  # one that has just closed its channel is about to end
    status = process.poll()
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            for _ in range(KILLS):  # what was just being forked may have been missed
                os.killpg(process.pid, signal.SIGKILL)
                time.sleep(0.01)
    if process.stdin is not None:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
    return status
