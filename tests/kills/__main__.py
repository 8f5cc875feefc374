"""Kill, at random moments, everything that writes a file: the old file or the new one is left, and never a broken one.

python -m tests.kills 1000            a thousand kills, most of them of forks that write again and again
python -m tests.kills 50 --only film  of one kind
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.kills.killing import Outcome, begin, kill_once
from tests.kills.programs import programs
from tests.kills.writers import Writer, writers
from tests.reliability.figures import write_figures

Kill = Callable[[random.Random], Outcome]


def main() -> int:
    """Kill, and print a row for each kind. Returns 1 if there is a fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.kills")
    parser.add_argument("count", type=int, help="how many kills in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="the kinds whose names contain this text")
    parser.add_argument("--figures", type=Path, help="a file for what was counted, for RELIABILITY.md")
    options = parser.parse_args()
    forks = [one for one in writers() if options.only in one.name]
    whole = [one for one in programs() if options.only in one.name]
    shares = [*(4 for _ in forks), *(1 for _ in whole)]  # a program takes as long to start as many forks
    counts = [-(-options.count * share // sum(shares)) for share in shares]
    rows, faults = [], []
    for subject, count in zip([*forks, *whole], counts, strict=True):
        with tempfile.TemporaryDirectory() as folder:
            chance = random.Random(f"{subject.name} {options.seed}")
            kill = _of_forks(subject, Path(folder)) if isinstance(subject, Writer) else subject.begin(Path(folder))
            outcomes = [kill(chance) for _ in range(count)]
        wrong = [one.fault for one in outcomes if one.fault is not None]
        middle = sum(one.in_the_middle for one in outcomes)
        print(f"{count:6,} kills of {subject.name}: {len(wrong)} faults, {middle} in the middle of writing", flush=True)
        for fault in wrong[:5]:
            print(f"       {fault}", flush=True)
        rows.append((subject.name, count, middle))
        faults += wrong
    total = sum(counts)
    print(f"{total:,} kills, {len(faults)} faults, {sum(row[2] for row in rows):,} in the middle of writing")
    if options.figures is not None:
        kinds = [[name, str(count), str(middle)] for name, count, middle in rows]
        lost = max((one.most_lost for one in whole), default=0.0)
        write_figures(
            options.figures, kills=total, faults=len(faults), in_the_middle=sum(row[2] for row in rows),
            most_lost_s=round(lost, 2), kinds=kinds,
        )  # fmt: skip
    return 1 if faults else 0


def _of_forks(writer: Writer, folder: Path) -> Kill:
    seconds = begin(writer, folder)
    return lambda chance: kill_once(writer, folder, chance, seconds)


if __name__ == "__main__":
    sys.exit(main())
