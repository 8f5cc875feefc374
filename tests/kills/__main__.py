"""Kill, at random moments, everything that writes a file: the old file or the new one is left, and never a broken one.

python -m tests.kills 1000            a thousand kills, most of them of forks that write again and again
python -m tests.kills 50 --only film  of one kind; in a file of figures, the other kinds keep theirs
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.kills.killing import Outcome, begin, kill_once
from tests.kills.programs import Types, programs
from tests.kills.writers import Writer, writers
from tests.reliability.figures import write_figures

FORKED = 4  # the share of what is forked: a program takes as long to start as many forks
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
    shares = [*(FORKED for _ in forks), *(one.share for one in whole)]
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
        lost = [one.most_lost for one in whole if isinstance(one, Types)]
        _write(options.figures, rows, len(faults), round(lost[0], 2) if lost else None)
    return 1 if faults else 0


def _write(path: Path, rows: list[tuple[str, int, int]], faults: int, lost: float | None) -> None:
    """Write the figures. What stands in the file of kinds that were not killed this time stays."""
    kinds = {name: [name, str(count), str(middle)] for name, count, middle in rows}
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"kinds": [], "faults": 0}
    others = {name for name, *_ in known["kinds"]} - set(kinds)
    together = {**{one[0]: one for one in known["kinds"]}, **kinds}
    write_figures(
        path, kills=sum(int(count) for _, count, _ in together.values()),
        faults=faults + (known["faults"] if others else 0),
        in_the_middle=sum(int(middle) for *_, middle in together.values()),
        most_lost_s=known.get("most_lost_s", 0.0) if lost is None else lost, kinds=list(together.values()),
    )  # fmt: skip


def _of_forks(writer: Writer, folder: Path) -> Kill:
    seconds = begin(writer, folder)
    return lambda chance: kill_once(writer, folder, chance, seconds)


if __name__ == "__main__":
    sys.exit(main())
