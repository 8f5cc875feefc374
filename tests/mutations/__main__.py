"""Opens damaged recordings and prints how many are refused and why; a fault of ours is printed with its number.

python -m tests.mutations 100000           numbers 0 to 99,999
python -m tests.mutations 1 --first 4711   number 4711 alone

Ctrl-C ends it early, and it tells what was counted so far.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

from tests.mutations.judge import judge
from tests.mutations.mutants import Mutants
from tests.reliability.figures import write_figures

try:
    import resource
except ImportError:  # Windows, where memory is neither limited nor measured
    resource = None  # type: ignore[assignment]

MEMORY = 1_500_000_000  # bytes of address space, of which the libraries take half a billion


def main() -> int:
    """Print the table. Returns 1 if there is a fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutations")
    parser.add_argument("count", type=int, help="how many files")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the number of the first")
    parser.add_argument("--figures", type=Path, help="a file for what was counted, for RELIABILITY.md")
    options = parser.parse_args()
    warnings.simplefilter("error")  # a warning would be printed to the user
    mutants = Mutants()
    with contextlib.suppress(AttributeError, ValueError, OSError):  # no such limit, or it cannot be set
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    before = _peak()
    refused: Counter[str] = Counter()
    asked_to_end: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: asked_to_end.append(number))
    opened = faults = largest = 0
    slowest = 0.0
    count = 0
    for number in range(options.first, options.first + options.count):
        if asked_to_end:
            break
        count += 1
        data = mutants.mutant(number)
        largest = max(largest, len(data))
        began = time.process_time()
        try:
            message = judge(data)
        except Exception:
            faults += 1
            print(f"number {number}:\n{traceback.format_exc()}", flush=True)
            continue
        finally:
            slowest = max(slowest, time.process_time() - began)
        opened += message is None
        if message is not None:
            refused[re.sub(r"[-\d,.]+", "N", message)[:60]] += 1
    for kind, times in refused.most_common(40):
        print(f"{times:8,}  {kind}")
    print(f"{count:,} files from number {options.first:,}: {sum(refused.values()):,} refused, {opened:,} opened")
    print(f"and shown by every view, {faults:,} faults; memory rose from {before:,} to {_peak():,} MB at most")
    print(f"the slowest took {slowest:.1f} s; the largest had {largest:,} bytes")
    if options.figures is not None:
        write_figures(
            options.figures, files=count, refused=sum(refused.values()), opened=opened, faults=faults,
            limit_mb=MEMORY // 1_000_000, before_mb=before, peak_mb=_peak(), slowest_s=round(slowest, 1),
            largest=largest,
        )  # fmt: skip
    return 1 if faults else 0


def _peak() -> int:
    """The most memory that the process has had, in MB; 0 if it is not known."""
    if resource is None:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "linux" else 1_048_576)


if __name__ == "__main__":
    sys.exit(main())
