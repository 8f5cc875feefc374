"""Opens damaged recordings and prints how many are refused and why; a fault of ours is printed with its number.

python -m tests.mutations 100000           numbers 0 to 99,999
python -m tests.mutations 1 --first 4711   number 4711 alone
"""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
import traceback
from collections import Counter

from tests.mutations.judge import judge
from tests.mutations.mutants import Mutants

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
    options = parser.parse_args()
    mutants = Mutants()
    with contextlib.suppress(AttributeError, ValueError, OSError):  # no such limit, or it cannot be set
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    before = _peak()
    refused: Counter[str] = Counter()
    opened = faults = 0
    for number in range(options.first, options.first + options.count):
        try:
            message = judge(mutants.mutant(number))
        except Exception:
            faults += 1
            print(f"number {number}:\n{traceback.format_exc()}", flush=True)
            continue
        opened += message is None
        if message is not None:
            refused[re.sub(r"[-\d,.]+", "N", message)[:60]] += 1
    for kind, count in refused.most_common(40):
        print(f"{count:8,}  {kind}")
    print(
        f"{options.count:,} files from number {options.first:,}: {sum(refused.values()):,} refused, {opened:,} opened"
    )
    print(f"and shown by every view, {faults:,} faults; memory rose from {before:,} to {_peak():,} MB at most")
    return 1 if faults else 0


def _peak() -> int:
    """The most memory that the process has had, in MB; 0 if it is not known."""
    if resource is None:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "linux" else 1_048_576)


if __name__ == "__main__":
    sys.exit(main())
