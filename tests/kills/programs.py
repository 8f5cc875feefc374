"""Whole programs that are killed: a program that records itself, commands, the course while somebody types."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

from microtape.errors import RecordingError
from microtape.recording.file.tape_file import load, save
from tests.kills.killing import PATIENCE, Outcome
from tests.support.pseudo_terminal import ROOT, PseudoTerminal, microtape
from tests.support.recordings import handmade

MOST_LOST = 2.0  # seconds of typing
LEFT = (".tape-*", ".unfinished-*")
ITSELF = """\
import os
import microtape as mt

w = mt.tensor([1.0, 2.0], requires_grad=True)
ended = os.open("ended", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
with mt.record(save="run.tape"):
    for number in range(200):
        (w * w).sum().backward()
        os.write(ended, b".")
"""
SCRIPT = """\
import os
import microtape as mt

w = mt.tensor([1.0, 2.0], requires_grad=True)
ended = os.open("ended", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
for number in range(100):
    (w * w).sum().backward()
    os.write(ended, b".")
"""


class Program(ABC):
    """A program to kill."""

    name = ""
    share = 1  # of all kills
    most_lost = 0.0  # seconds of typing that were lost by a kill

    @abstractmethod
    def begin(self, folder: Path) -> Callable[[random.Random], Outcome]:
        """Prepare the folder. Returns what starts the program once, and kills it."""


def programs() -> list[Program]:
    """All of them."""
    return [RecordsItself(), Records(), Writes("draw", "graph.svg"), Writes("film", "run.html"), Types()]


def _started(command: list[str], folder: Path) -> subprocess.Popen[bytes]:
    """The program in a group of its own, whose output is a pipe that all of its processes have."""
    settings = {**os.environ, "PYTHONPATH": str(ROOT), "MICROTAPE_REMEMBER": "0"}
    return subprocess.Popen(
        command, cwd=folder, env=settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )


def _life(command: list[str], folder: Path) -> float:
    """How many seconds the program runs."""
    began = time.monotonic()
    process = _started(command, folder)
    said = process.communicate(timeout=PATIENCE)[0]
    assert process.returncode == 0, said.decode(errors="replace")
    return time.monotonic() - began


def _killed(process: subprocess.Popen[bytes], seconds: float, kill: Callable[[], None]) -> None:
    """Kill after so many seconds, unless it has ended; then wait for all of its processes."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        kill()
    process.communicate(timeout=PATIENCE)


def _unfinished(folder: Path) -> int:
    """Remove what a kill in the middle of writing has left. Returns how much that is."""
    left = [path for pattern in LEFT for path in folder.glob(pattern)]
    for path in left:
        path.unlink()
    return len(left)


class RecordsItself(Program):
    """A program with `record(save=...)`: each pass that has ended can be opened."""

    name = "programs that record themselves"

    def begin(self, folder: Path) -> Callable[[random.Random], Outcome]:
        (folder / "train.py").write_text(ITSELF)
        command = [sys.executable, "train.py"]
        life = _life(command, folder)

        def once(chance: random.Random) -> Outcome:
            for name in ("run.tape", "run.tape.journal", "ended"):
                (folder / name).unlink(missing_ok=True)
            process = _started(command, folder)
            _killed(process, life * chance.uniform(0.2, 1.1), process.kill)
            return _judged(folder / "run.tape", folder)

        return once


class Records(Program):
    """`microtape record`: the command is killed, the script, or both at once."""

    name = "microtape record"

    def begin(self, folder: Path) -> Callable[[random.Random], Outcome]:
        (folder / "train.py").write_text(SCRIPT)
        command = microtape("record", "--pass", "all", "train.py", "-o", "run.tape")
        life = _life(command, folder)

        def once(chance: random.Random) -> Outcome:
            for name in ("run.tape", "run.tape.journal", "ended"):
                (folder / name).unlink(missing_ok=True)
            process = _started(command, folder)

            def kill() -> None:
                script = [
                    int(one) for one in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
                ]
                chosen = chance.choice([[process.pid], script, [*script, process.pid]])
                for one in chosen or [process.pid]:
                    os.kill(one, signal.SIGKILL)

            _killed(process, life * chance.uniform(0.1, 1.1), kill)
            return _judged(folder / "run.tape", folder)

        return once


def _judged(path: Path, folder: Path) -> Outcome:
    """Whether each pass that has ended is in the recording, or in its journal."""
    ended = (folder / "ended").stat().st_size if (folder / "ended").exists() else 0
    try:
        kept = len(load(path).passes)
    except RecordingError as error:
        kept, problem = 0, str(error)
    else:
        problem = ""
    left = _unfinished(folder)
    if problem and (ended or path.exists()):
        return Outcome(f"{ended} passes had ended, and the recording cannot be opened: {problem}", left > 0)
    if not ended <= kept <= ended + 1:  # the last one may have ended before it was counted
        return Outcome(f"{ended} passes had ended, and {kept} are kept", left > 0)
    return Outcome(f"{left} unfinished files" if left > 1 else None, left > 0)


class Writes(Program):
    """A command that replaces a file: the old one is left, or the new one."""

    def __init__(self, command: str, out: str) -> None:
        self.name, self._command, self._out = f"microtape {command}", command, out

    def begin(self, folder: Path) -> Callable[[random.Random], Outcome]:
        save(handmade.diamond(), folder / "run.tape")
        out = folder / self._out
        command = microtape(self._command, "run.tape", "-o", self._out)
        life = _life(command, folder)
        new, old = out.read_bytes(), b"the old one"

        def once(chance: random.Random) -> Outcome:
            out.write_bytes(old)
            process = _started(command, folder)
            _killed(process, life * chance.uniform(0.3, 1.1), process.kill)
            there, left = out.read_bytes(), _unfinished(folder)
            return Outcome(None if there in (old, new) else f"{len(there)} bytes that are neither", left > 0)

        return once


class Types(Program):
    """`microtape learn`, while somebody types: what stood on the screen two seconds before is in the file."""

    name = "microtape learn, while somebody types"
    share = 9  # a hundred of a thousand kills: when the last letters are saved depends on how fast somebody types

    def begin(self, folder: Path) -> Callable[[random.Random], Outcome]:
        return lambda chance: self._once(chance, folder / str(chance.random()))

    def _once(self, chance: random.Random, folder: Path) -> Outcome:
        file = folder / "exercises" / "tape_of_numbers.py"
        shown: list[tuple[float, str]] = []  # when each letter stood on the screen
        typed = ""
        with PseudoTerminal(microtape("learn"), MICROTAPE_DATA=str(folder)) as terminal:
            terminal.wait_for("lessons solved")
            terminal.press("\r")
            terminal.wait_for("next")
            terminal.press("e")
            terminal.wait_for("You are editing")
            for _ in range(chance.randrange(4, 60)):
                letter = chance.choice("qvzj")
                terminal.press(letter)
                terminal.wait_for(letter)
                typed += letter
                shown.append((time.monotonic(), typed))
                time.sleep(chance.uniform(0, 0.2))
            terminal.process.kill()
            killed = time.monotonic()
            terminal.process.wait()
        text = file.read_text(encoding="utf-8")
        found = max(
            (kept for _, kept in shown if re.search(rf"(?<![qvzj]){kept}(?![qvzj])", text)), key=len, default=""
        )
        first_lost = next((when for when, kept in shown if len(kept) > len(found)), killed)
        self.most_lost = max(self.most_lost, killed - first_lost)
        if killed - first_lost > MOST_LOST:
            return Outcome(f"{killed - first_lost:.1f} seconds of typing are lost", False)
        return Outcome(None, bool(list(file.parent.glob(".*.py.*"))))
