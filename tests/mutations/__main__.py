"""Opens damaged recordings and prints how many are refused and why; a fault of ours is printed with its number.

python -m tests.mutations 100000           numbers 0 to 99,999
python -m tests.mutations 1 --first 4711   number 4711 alone

Ctrl-C ends it after the thousand files that are being opened, and it tells what was counted.
"""

from __future__ import annotations

import argparse
import multiprocessing
import signal
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.mutations.counting import MEMORY, Count, judged
from tests.reliability.figures import write_figures

TOGETHER = 1_000  # files that one process opens: in a long one, freed memory in pieces takes all of its address space


def main() -> int:
    """Print the table. Returns 1 if there is a fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutations")
    parser.add_argument("count", type=int, help="how many files")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the number of the first")
    parser.add_argument("--figures", type=Path, help="a file for what was counted, for RELIABILITY.md")
    options = parser.parse_args()
    end = options.first + options.count
    parts = [range(first, min(first + TOGETHER, end)) for first in range(options.first, end, TOGETHER)]
    total = Count()
    begin = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=begin, max_tasks_per_child=1) as processes:
        running = [processes.submit(judged, part) for part in parts]
        asked_to_end: list[int] = []
        signal.signal(signal.SIGINT, lambda number, frame: asked_to_end.append(number))
        for one in running:
            total.add(one.result())
            if asked_to_end:
                processes.shutdown(wait=False, cancel_futures=True)
                break
    for kind, times in total.refused.most_common(40):
        print(f"{times:8,}  {kind}")
    print(
        f"{total.files:,} files from number {options.first:,}: {sum(total.refused.values()):,} refused, "
        f"{total.opened:,} opened"
    )
    print(f"and shown by every view, {total.faults:,} faults; memory rose from {total.before:,} to {total.peak:,} MB")
    print(f"at most; the slowest took {total.slowest:.1f} s; the largest had {total.largest:,} bytes")
    if options.figures is not None:
        write_figures(
            options.figures, files=total.files, refused=sum(total.refused.values()), opened=total.opened,
            faults=total.faults, limit_mb=MEMORY // 1_000_000, before_mb=total.before, peak_mb=total.peak,
            slowest_s=round(total.slowest, 1), largest=total.largest,
        )  # fmt: skip
    return 1 if total.faults else 0


if __name__ == "__main__":
    sys.exit(main())
