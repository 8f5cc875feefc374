"""How fast the stepper is, measured from outside: the real program in a pseudo-terminal, from a key to its last output.

A paint is over when nothing more has come for `QUIET` seconds; its time ends with its last byte. What the program
prints is not looked at beyond that: what is on the screen is for the tests.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter

from benchmarks.checks import Finding
from benchmarks.engines import Engine

ROOT = Path(__file__).resolve().parent.parent
COLUMNS, LINES = 140, 50
QUIET = 0.08  # seconds without output that end a paint; a frame is painted in one go, with gaps of a few ms
OPENED = b"is called"  # what the sentence of a stepper that has just opened says
PATIENCE = 120.0  # seconds until a program that paints nothing is given up
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
OPERATIONS = 6  # that a round of the loop records


class Terminal:
    """A program in a pseudo-terminal of its own."""

    def __init__(self, command: Sequence[str]) -> None:
        terminal = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "MICROTAPE_REMEMBER": "0"}
        environment = {**os.environ, **terminal, "PYTHONPATH": str(ROOT)}
        self.started = perf_counter()
        self.process, self.file = pty.fork()
        if self.process == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
            os.execve(command[0], list(command), environment)
        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))

    def press(self, key: bytes) -> float:
        """Seconds from a key to the end of the paint that follows it."""
        begin = perf_counter()
        os.write(self.file, key)
        return self.painted() - begin

    def painted(self, marker: bytes = b"") -> float:
        """Wait for a paint, one with this text in it if any is given; when its last byte came."""
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
            raise RuntimeError(f"the stepper painted nothing for {PATIENCE:g} s; it said: {seen[-2000:]!r}")
        return last

    @property
    def megabytes(self) -> float:
        """The most memory that it has held, resident; Linux only."""
        status = Path(f"/proc/{self.process}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024

    def close(self) -> None:
        """End it."""
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.file)


def stepper(engines: dict[str, Engine], quick: bool) -> Iterator[Finding]:
    """Opening, stepping and jumping in a recording of 30,000 nodes, with all panes at 140×50; the memory; the demo."""
    tui = "import sys; from tui.cli import main; sys.exit(main())"
    imports = _seconds("import tui.opening, microtape.recording.file, tui.app")
    with tempfile.TemporaryDirectory() as folder:
        script, tape = Path(folder, "long.py"), Path(folder, "long.tape")
        script.write_text(PROGRAM.format(rounds=30_000 // OPERATIONS), encoding="utf-8")
        record = [sys.executable, "-P", "-c", tui, "record", str(script), "-o", str(tape)]
        subprocess.run(record, check=True, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
        terminal = Terminal([sys.executable, "-P", "-c", tui, "step", str(tape)])
        try:
            first = terminal.painted(OPENED) - terminal.started
            yield Finding("stepper: first paint of 30,000 nodes, beyond Python and imports", first - imports, "s", 1)
            _settle(terminal)
            steps = sorted(terminal.press(key) for key in [b"l"] * (30 if quick else 200) + [b"h"] * 20)
            yield Finding("stepper: a step, median", 1e3 * statistics.median(steps), "ms", 10)
            yield Finding("stepper: a step, 95 %", 1e3 * steps[int(0.95 * len(steps))], "ms", 16)
            jumps = []
            for node in range(1_000, 30_000, 7_000 if quick else 1_000):
                terminal.press(b"g")
                for digit in str(node * 7_919 % 30_000):
                    terminal.press(digit.encode())
                jumps.append(terminal.press(b"\r"))
            jumps += [terminal.press(key) for key in (b"\x1b[H", b"\x1b[F", b"\x1b[H", b"\x1b[F")]
            yield Finding("stepper: a jump, the slowest", 1e3 * max(jumps), "ms", 50)
            yield Finding("stepper: memory", terminal.megabytes, "MB", 200)
        finally:
            terminal.close()
    terminal = Terminal([sys.executable, "-P", "-c", tui, "demo"])
    try:
        yield Finding("`microtape demo`: from command to first paint", terminal.painted(OPENED) - terminal.started,
                      "s", 1)  # fmt: skip
    finally:
        terminal.close()


def _settle(terminal: Terminal) -> None:
    """Let what goes on in the background after opening come to its end."""
    while select.select([terminal.file], [], [], 3.0)[0]:
        os.read(terminal.file, 1 << 16)


def _seconds(program: str) -> float:
    """The median of how long Python takes to start and run a program."""
    times = []
    for _ in range(5):
        begin = perf_counter()
        subprocess.run([sys.executable, "-P", "-c", program], check=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
        times.append(perf_counter() - begin)
    return statistics.median(times)


if __name__ == "__main__":
    for finding in stepper({}, "--quick" in sys.argv):
        print(f"{finding.what}: {finding.value:.3g} {finding.unit} (target {finding.target})", flush=True)
