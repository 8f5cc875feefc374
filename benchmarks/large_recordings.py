"""The stepper in large recordings: one of many passes, and one of a million nodes."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.engines import Engine
from benchmarks.figures import Figure
from benchmarks.installed import installed
from benchmarks.stepper import MICROTAPE, OPERATIONS, PROGRAM, Terminal, settle

PASSES = """\
import microtape as mt
from microtape import nn

mt.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = mt.optim.SGD(model.parameters(), lr=0.1)
x, y = mt.randn(16, 4), mt.randn(16, 1)
for _ in range(1_000):
    optimizer.zero_grad()
    loss = ((model(x) - y) ** 2).mean()
    loss.backward()
    optimizer.step()
"""
NODES = 1_000_000
COMMAND = [sys.executable, "-P", "-c", MICROTAPE]


def large_recordings(engines: dict[str, Engine], quick: bool) -> Iterator[Figure]:
    """Steps in 1,000 passes; opening and stepping 1,000,000 nodes, and the memory that it takes."""
    with tempfile.TemporaryDirectory() as folder:
        terminal = _opened(folder, PASSES, "--pass", "all")
        try:
            terminal.opened()
            settle(terminal)
            steps = [1e3 * terminal.press(key).took for key in [b"l", b"h"] * (5 if quick else 50)]
            yield Figure("stepper: a step in a recording of 1,000 passes, median", statistics.median(steps), "ms", 10)
        finally:
            terminal.close()
        if quick:
            return
        terminal = _opened(folder, PROGRAM.format(rounds=NODES // OPERATIONS))
        try:
            yield Figure("stepper: first paint of 1,000,000 nodes", terminal.opened().took, "s", 8)
            settle(terminal, 10.0)
            steps = sorted(1e3 * terminal.press(key).took for key in [b"l"] * 100)
            yield Figure("stepper: a step in 1,000,000 nodes, 95 %", steps[int(0.95 * len(steps))], "ms", 16)
            yield Figure("stepper: memory for 1,000,000 nodes", terminal.megabytes / 1e3, "GB", 1.2)
        finally:
            terminal.close()


def _opened(folder: str, program: str, *options: str) -> Terminal:
    """Record a program, and open the stepper on the recording."""
    environment = installed(folder)
    script, tape = Path(folder, "program.py"), Path(folder, "program.tape")
    script.write_text(program, encoding="utf-8")
    record = [*COMMAND, "record", str(script), "-o", str(tape), *options]
    subprocess.run(record, check=True, capture_output=True, env=environment)
    return Terminal([*COMMAND, "step", str(tape)], environment)
