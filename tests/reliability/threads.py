"""Backward passes in many threads on shared leaves, plain and recorded: every gradient has to arrive.

python -m tests.reliability.threads --threads 8 --passes 2000
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import microtape as mt
from tests.reliability.figures import write_figures

LEAVES, SIZE = 4, 50
RECORDED = 20  # times fewer passes are recorded: a recording holds them all


def main() -> int:
    """Run the passes. Returns 1 if a gradient is lost."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability.threads")
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--passes", type=int, default=2_000, help="in each thread")
    parser.add_argument("--figures", type=Path, help="a file for what was counted, for RELIABILITY.md")
    options = parser.parse_args()
    lost = lost_gradients(options.threads, options.passes)
    few = max(options.passes // RECORDED, 1)
    with mt.record() as recorder:
        lost += lost_gradients(options.threads, few)
    missing = options.threads * few - len(recorder.recording.passes)
    plain, recorded = options.threads * options.passes, options.threads * few
    print(f"{plain:,} passes and {recorded:,} recorded ones in {options.threads} threads: {lost} gradients are lost,")
    print(f"{missing} passes are missing in the recording")
    if options.figures is not None:
        write_figures(
            options.figures, threads=options.threads, passes=plain, recorded=recorded, leaves=LEAVES, lost=lost,
            missing=missing,
        )  # fmt: skip
    return 1 if lost or missing else 0


def lost_gradients(threads: int, passes: int) -> int:
    """How many of the terms are missing that the passes of all threads add to the gradients of shared leaves."""
    leaves = [mt.zeros(SIZE, dtype=mt.float64, requires_grad=True) for _ in range(LEAVES)]
    together = threading.Barrier(threads)

    def work() -> None:
        together.wait()
        for _ in range(passes):
            total = leaves[0] * 1.0
            for leaf in leaves[1:]:
                total = total + leaf
            total.sum().backward()

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # let Python switch between the threads as often as it can
    try:
        _in_threads(threads, work)
    finally:
        sys.setswitchinterval(before)
    grads = [leaf.grad.tolist() if leaf.grad is not None else [0] * SIZE for leaf in leaves]
    return sum(threads * passes - int(one) for grad in grads for one in grad)


def _in_threads(count: int, work: Callable[[], None]) -> None:
    every = [threading.Thread(target=work) for _ in range(count)]
    for one in every:
        one.start()
    for one in every:
        one.join()


if __name__ == "__main__":
    sys.exit(main())
