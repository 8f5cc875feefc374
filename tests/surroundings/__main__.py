"""Run each command in each of the surroundings, and print what is wrong.

python -m tests.surroundings                          all of them, which takes minutes
python -m tests.surroundings --only "a full disk"     in one of the surroundings
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.reliability.figures import write_figures
from tests.surroundings.table import COMMANDS, SURROUNDINGS, fault


def main() -> int:
    """Run them. Returns 1 if something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.surroundings")
    parser.add_argument("--only", default="", help="the surroundings whose names contain this text")
    parser.add_argument("--figures", type=Path, help="a file for what was counted, for RELIABILITY.md")
    options = parser.parse_args()
    chosen = [one for one in SURROUNDINGS if options.only in one.name]
    faults = 0
    for surrounding in chosen:
        for command in COMMANDS:
            with tempfile.TemporaryDirectory() as folder:
                wrong = fault(command, surrounding, Path(folder))
            if wrong is not None:
                faults += 1
                print(f"{surrounding.name}: microtape {' '.join(command.words)}: {wrong}", flush=True)
    print(f"{len(COMMANDS)} commands in {len(chosen)} surroundings: {faults} faults")
    if options.figures is not None:
        names = [[one.name] for one in chosen]
        write_figures(options.figures, commands=len(COMMANDS), faults=faults, surroundings=names)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
