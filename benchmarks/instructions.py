"""Instruction counts under callgrind: they catch regressions that are too small for noisy timings.

One process imports everything and forks a child that ends at once, a child that runs a reference, and one for each
workload. The instructions of a workload are its child's count minus that of the first child. The file stores their
ratios to the reference, a twenty-line tape that does the same kind of work (small objects, calls, numpy on small
arrays). Such a ratio hardly changes with the patch versions of Python and numpy.

    python -m benchmarks.instructions            count and compare with the stored ratios
    python -m benchmarks.instructions --store    store the counts of this Python version, after an improvement
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

STORED = Path(__file__).with_name("instructions.json")
WORSE, BETTER = 0.04, 0.20  # a larger improvement must be stored, or later regressions up to the old count would pass
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


class CountingError(Exception):
    """Instructions could not be counted."""


def count() -> dict[str, float]:
    """Each workload's instructions over those of the reference. Raises CountingError if valgrind fails."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise CountingError("valgrind is not installed")
    command = [valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    result = subprocess.run(
        [*command, sys.executable, "-m", __spec__.name, "--run"],
        env={**os.environ, "PYTHONHASHSEED": "0"},
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
    )
    processes = dict(re.findall(r"^child (\d+) (.+)$", result.stdout, re.MULTILINE))
    collected = dict(re.findall(r"^==(\d+)== Collected : (\d+)$", result.stderr, re.MULTILINE))
    counts = {name: int(collected[process]) for process, name in processes.items() if process in collected}
    if result.returncode or set(counts) != {*processes.values()} or "nothing" not in counts:
        raise CountingError(f"valgrind failed: {result.stderr[-1000:]}")
    nothing = counts.pop("nothing")
    reference = counts.pop("reference") - nothing
    return {name: round((instructions - nothing) / reference, 3) for name, instructions in counts.items()}


def stored() -> dict[str, float] | None:
    """The stored ratios for this minor version of Python, None if there are none."""
    ratios: dict[str, dict[str, float]] = json.loads(STORED.read_text(encoding="utf-8"))
    return ratios.get(PYTHON)


def _store(ratios: dict[str, float]) -> None:
    """Store the ratios for this minor version of Python."""
    everything = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    everything[PYTHON] = ratios
    STORED.write_text(json.dumps(everything, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def changed(ratios: dict[str, float], expected: dict[str, float]) -> list[str]:
    """A line for each workload whose ratio is not within the tolerance of the stored one."""
    lines = []
    for name, wanted in expected.items():
        change = ratios[name] / wanted - 1
        if change > WORSE:
            lines.append(f"{name}: {ratios[name]} times the reference, {change:.1%} more than the stored {wanted}")
        elif change < -BETTER:
            lines.append(f"{name}: {ratios[name]} times the reference instead of {wanted}. Better! Store it: --store")
    return lines


def _reference() -> None:
    """A chain of multiplications on a tape of twenty lines."""
    import numpy as np

    class Value:
        __slots__ = ("array", "derivatives", "grad", "inputs")

        def __init__(self, array: Any, inputs: tuple[Value, ...] = (), derivatives: tuple[Any, ...] = ()) -> None:
            self.array, self.inputs, self.derivatives, self.grad = array, inputs, derivatives, None

    def mul(x: Value, y: Value) -> Value:
        return Value(np.multiply(x.array, y.array), (x, y), (y.array, x.array))

    x, y = Value(np.full(4, 0.5, np.float32)), Value(np.full(4, 0.9, np.float32))
    tape = []
    for _ in range(400):
        x = mul(x, y)
        tape.append(x)
    x.grad = np.ones(4, np.float32)
    for value in reversed(tape):
        for one, derivative in zip(value.inputs, value.derivatives, strict=True):
            term = value.grad * derivative
            one.grad = term if one.grad is None else one.grad + term


def _work() -> dict[str, Callable[[], Any]]:
    """The functions to count, warmed up so that adaptive bytecode and caches have settled."""
    from benchmarks.engines import Torch
    from benchmarks.workloads import FOUR, SMALL_MLP, Workload, chain, mlp

    engine = Torch("microtape")
    small = engine.prepare(Workload("chain", "", chain, FOUR, [400]))
    network = engine.prepare(Workload("mlp", "", mlp, **SMALL_MLP))
    table: dict[str, Callable[[], Any]] = {
        "nothing": lambda: None,
        "reference": _reference,
        "chain": small,
        "mlp": lambda: [network() for _ in range(10)],
    }
    for run in table.values():
        run()
        run()
    return table


def _run_children() -> None:
    """Fork a child for each function, and print its process id and name."""
    table = _work()
    gc.collect()
    for name, run in table.items():
        process = os.fork()
        if process == 0:
            run()
            os._exit(0)
        os.waitpid(process, 0)
        print("child", process, name, flush=True)


def main() -> int:
    """Count, and compare or store."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.instructions")
    parser.add_argument("--store", action="store_true", help="store the counts of this Python version")
    parser.add_argument("--run", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        _run_children()
        return 0
    try:
        ratios = count()
    except CountingError as error:
        print(error, file=sys.stderr)
        return 2
    for name, ratio in ratios.items():
        print(f"{name}: {ratio} times the reference")
    if options.store:
        _store(ratios)
        return 0
    lines = changed(ratios, stored() or {})
    print("\n".join(lines), end="\n" if lines else "")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
