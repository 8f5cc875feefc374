"""The stepper's speed, measured from outside: the real program in a pseudo-terminal, from a key to its last output.

A paint ends when no output has come for `QUIET` seconds; its time ends with its last byte. The content of the output
is not checked here; the tests check the screen.
"""

from __future__ import annotations

import fcntl
import os
import pty
import resource
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from benchmarks.engines import Engine
from benchmarks.figures import Figure
from benchmarks.installed import installed

COLUMNS, LINES = 140, 50
QUIET = 0.08  # seconds without output that end a paint; within a paint, gaps are a few ms
OPENED = b"visits"  # in the sentence that a stepper shows when it opens
PATIENCE = 120.0  # seconds to wait for a program that paints nothing
PROGRAM = """\
import numpy as np
import microtape

numbers = np.random.default_rng(0)
w = microtape.tensor(numbers.normal(size=(8, 8)) / 8, requires_grad=True)
u = microtape.tensor(numbers.normal(size=8), requires_grad=True)
h = microtape.tensor(np.zeros(8))
for time in range({rounds}):
    x = microtape.tensor(float(numbers.normal()))
    z = w @ h + u * x
    h = microtape.tanh(z) + z * 0.1
loss = (h * h).sum()
loss.backward()
"""
MICROTAPE = "import sys; from tui.commands.cli import main; sys.exit(main())"  # the command `microtape`
IMPORTS = "import tui.shell.opening, microtape.recording.file.tape_file, tui.stepper.app"  # those of `microtape step`
OPERATIONS = 6  # recorded in each iteration of the loop
HOME, END, ENTER, INSIDE = b"\x1b[H", b"\x1b[F", b"\r", b"\x1b[1;2C"


class Paint(NamedTuple):
    """Seconds from a key to the last byte of the next paint: `took` by the clock, `computed` of processor time."""

    took: float
    computed: float


class Terminal:
    """A program running in its own pseudo-terminal."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        terminal = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "MICROTAPE_REMEMBER": "0"}
        self.started = perf_counter()
        self.process, self.file = pty.fork()
        if self.process == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
            os.execve(command[0], list(command), {**environment, **terminal})
        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))

    def press(self, key: bytes) -> Paint:
        """Press a key, and wait for the paint that follows."""
        begin, before = perf_counter(), self.computing
        os.write(self.file, key)
        took = self.painted() - begin
        return Paint(took, self.computing - before)

    def opened(self) -> Paint:
        """Wait for the paint that shows the beginning of the recording."""
        took = self.painted(OPENED) - self.started
        return Paint(took, self.computing)

    def painted(self, marker: bytes = b"") -> float:
        """Wait for a paint, one that contains `marker` if given. Returns the time of its last byte."""
        last, seen, begin = 0.0, b"", perf_counter()
        while True:
            wait = QUIET if last and marker in seen else PATIENCE - (perf_counter() - begin)
            if wait <= 0 or not select.select([self.file], [], [], wait)[0]:
                break
            try:
                seen += os.read(self.file, 1 << 16)
            except OSError:  # the program has ended
                break
            last = perf_counter()
        if not last or marker not in seen:
            raise RuntimeError(f"the stepper painted nothing for {PATIENCE:g} s; its output: {seen[-2000:]!r}")
        return last

    @property
    def megabytes(self) -> float:
        """The peak resident memory of the program; Linux only."""
        status = Path(f"/proc/{self.process}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024

    @property
    def computing(self) -> float:
        """The processor time of the program in seconds, which other load does not affect; Linux only."""
        tasks = Path(f"/proc/{self.process}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

    def close(self) -> None:
        """Kill the program."""
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.file)


def stepper(engines: dict[str, Engine], quick: bool) -> Iterator[Figure]:
    """Opening, stepping and jumping in a recording of 30,000 nodes, at 140×50 with all panes; memory; the demo."""
    with tempfile.TemporaryDirectory() as folder:
        environment = installed(folder)
        imports = _run(IMPORTS, environment)
        script, tape = Path(folder, "long.py"), Path(folder, "long.tape")
        script.write_text(PROGRAM.format(rounds=30_000 // OPERATIONS), encoding="utf-8")
        record = [sys.executable, "-P", "-c", MICROTAPE, "record", str(script), "-o", str(tape)]
        subprocess.run(record, check=True, capture_output=True, env=environment)
        terminal = Terminal([sys.executable, "-P", "-c", MICROTAPE, "step", str(tape)], environment)
        try:
            opened = "stepper: first paint of 30,000 nodes, beyond Python and imports"
            first = terminal.opened()
            yield Figure(opened, first.took - imports.took, "s", 1)
            yield Figure(f"{opened}, processor time", first.computed - imports.computed, "s", 1)
            settle(terminal)
            steps = [terminal.press(key) for key in [b"l"] * (30 if quick else 200) + [b"h"] * 20]
            inside = [terminal.press(INSIDE) for _ in range(10 if quick else 40)]
            jumps = {kind: list(jump(terminal, quick)) for kind, jump in JUMPS.items()}
            terminal.press(b"z")
            settle(terminal, 5.0)  # the message about folds disappears: that paint belongs to no step
            folded = [terminal.press(b"l") for _ in range(2 * OPERATIONS if quick else 10 * OPERATIONS)]
            for kind, name in ((0, ""), (1, ", processor time")):
                stepped, within, over = (
                    sorted(1e3 * paint[kind] for paint in paints) for paints in (steps, inside, folded)
                )
                yield Figure(f"stepper: a step, median{name}", statistics.median(stepped), "ms", 10)
                yield Figure(f"stepper: a step, 95 %{name}", stepped[int(0.95 * len(stepped))], "ms", 16)
                yield Figure(f"stepper: a move inside a step, 95 %{name}", within[int(0.95 * len(within))], "ms", 16)
                yield Figure(f"stepper: the slowest step between folds{name}", over[-1], "ms", 50)
                slowest = {how: max(1e3 * paint[kind] for paint in paints) for how, paints in jumps.items()}
                for how, milliseconds in slowest.items():
                    yield Figure(f"stepper: the slowest jump {how}{name}", milliseconds, "ms", 50)
                yield Figure(f"stepper: the slowest jump{name}", max(slowest.values()), "ms", 50)
            yield Figure("stepper: memory", terminal.megabytes, "MB", 200)
        finally:
            terminal.close()
        terminal = Terminal([sys.executable, "-P", "-c", MICROTAPE, "demo"], environment)
        try:
            first = terminal.opened()
            yield Figure("`microtape demo`: from command to first paint", first.took, "s", 1)
            yield Figure("`microtape demo`: from command to first paint, processor time", first.computed, "s", 1)
        finally:
            terminal.close()


def _by_number(terminal: Terminal, quick: bool) -> Iterator[Paint]:
    for node in range(1_000, 30_000, 7_000 if quick else 1_000):
        _type(terminal, b"g", str(node * 7_919 % 30_000))
        yield terminal.press(ENTER)


def _to_ends(terminal: Terminal, quick: bool) -> Iterator[Paint]:
    for key in (HOME, END) * (1 if quick else 3):
        yield terminal.press(key)


def _by_click(terminal: Terminal, quick: bool) -> Iterator[Paint]:
    """Clicks on the timeline, the second line of the screen."""
    for column in (20, 120) if quick else (20, 100, 40, 130, 60, 90, 12, 75):
        yield terminal.press(b"\x1b[<0;%d;2M\x1b[<0;%d;2m" % (column, column))


def _to_breakpoints(terminal: Terminal, quick: bool) -> Iterator[Paint]:
    for node in (1_000, 15_000, 29_000):
        _type(terminal, b"b", f"%{node}")
        terminal.press(ENTER)
    terminal.press(HOME)
    settle(terminal)  # the message about the last breakpoint disappears
    for key in b"ccC" if quick else b"cccCCC":
        yield terminal.press(bytes([key]))


def _to_matches(terminal: Terminal, quick: bool) -> Iterator[Paint]:
    _type(terminal, b"/", "tanh")
    terminal.press(ENTER)
    for key in b"nN" if quick else b"nnnnnNNN":
        yield terminal.press(bytes([key]))


def _type(terminal: Terminal, key: bytes, text: str) -> None:
    for letter in (key, *(letter.encode() for letter in text)):
        terminal.press(letter)


JUMPS: Mapping[str, Callable[[Terminal, bool], Iterator[Paint]]] = {
    "to a number": _by_number,
    "to an end": _to_ends,
    "by a click": _by_click,
    "to a breakpoint": _to_breakpoints,
    "to a match": _to_matches,
}


def settle(terminal: Terminal, silence: float = 3.0) -> None:
    """Wait until the work in the background has finished: nothing was painted for so many seconds."""
    while select.select([terminal.file], [], [], silence)[0]:
        os.read(terminal.file, 1 << 16)


def _run(program: str, environment: Mapping[str, str]) -> Paint:
    """The median time to start Python and run a program that paints nothing."""
    runs = []
    for _ in range(5):
        begin, before = perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-P", "-c", program], check=True, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        computed = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        runs.append(Paint(perf_counter() - begin, computed))
    return Paint(statistics.median(run.took for run in runs), statistics.median(run.computed for run in runs))


if __name__ == "__main__":
    for figure in stepper({}, "--quick" in sys.argv):
        print(f"{figure.what}: {figure.value:.3g} {figure.unit} (target {figure.target})", flush=True)
