"""Kills a process while it writes a file again and again, and says what it left behind.

Half of the kills come at a random moment, half before a random one of the process's calls that open, rename or remove a
file: those calls take so little of the time that random moments would seldom meet them.
"""

from __future__ import annotations

import contextlib
import os
import random
import select
import signal
import sys
import time
from pathlib import Path
from typing import NamedTuple

from tests.kills.writers import Writer

PATIENCE = 120.0  # seconds: only a process that hangs takes so long
CALLS = ("open", "os.rename", "os.remove", "os.mkdir", "os.truncate", "os.link", "tempfile.mkstemp")
MOST_CALLS = 40


class Outcome(NamedTuple):
    """What a kill left: a fault, or None; and whether it came in the middle of writing."""

    fault: str | None
    in_the_middle: bool


def begin(writer: Writer, folder: Path) -> float:
    """Write a first version, and a second one. Returns how many seconds that took."""
    writer.write(folder, 0)
    writer.read(folder)
    began = time.monotonic()
    writer.write(folder, 1)
    return time.monotonic() - began


def kill_once(writer: Writer, folder: Path, chance: random.Random, seconds: float) -> Outcome:
    """Go on from the version that is there in a fork of this process, and kill that while it writes."""
    before = writer.read(folder)
    call = chance.randrange(MOST_CALLS) if chance.random() < 0.5 else None
    ours, theirs = os.pipe()
    process = os.fork()
    if not process:
        _write_for_ever(writer, folder, before, theirs, call)
    os.close(theirs)
    if call is None:
        assert select.select([ours], [], [], PATIENCE)[0], f"{writer.name} writes nothing"
        time.sleep(chance.uniform(0, 3 * seconds))
        os.kill(process, signal.SIGKILL)
    status = os.waitpid(process, 0)[1]
    with open(ours, "rb") as pipe:
        written = len(pipe.read())
    left = [path for pattern in writer.unfinished for path in folder.glob(pattern) if path.suffix != ".lock"]
    if not os.WIFSIGNALED(status):
        return Outcome(f"the process ended by itself, after {written} versions", False)
    try:
        now = writer.read(folder)
    except Exception as error:
        return Outcome(f"after {written} versions, the file is broken: {type(error).__name__}: {error}", bool(left))
    finally:
        for path in left:
            path.unlink()
    later = (now - before) % writer.cycle
    if later not in {written % writer.cycle, (written + 1) % writer.cycle}:
        return Outcome(f"{written} versions were written, and the file is {later} later", bool(left))
    return Outcome(f"{len(left)} unfinished files" if len(left) > 1 else None, bool(left))


def _write_for_ever(writer: Writer, folder: Path, before: int, told: int, call: int | None) -> None:
    """Write one version after the other, and a byte for each that is written. Never returns."""
    with contextlib.suppress(BaseException):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        if call is not None:
            _end_at(call)
        number = before
        while True:
            number += 1
            writer.write(folder, number)
            os.write(told, b".")
    os._exit(1)


def _end_at(call: int) -> None:
    """Kill this process before that one of its calls that change a file."""
    left = call

    def look(event: str, arguments: object) -> None:
        nonlocal left
        if event in CALLS:
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(look)
