"""Run the long checks, and write RELIABILITY.md from what they counted.

python -m tests.reliability                      all of them, at the sizes that the page names, which takes hours
python -m tests.reliability --share 0.01         a hundredth of that
python -m tests.reliability kills serve          these alone; the others keep their figures
python -m tests.reliability --page               write the page from the figures that are there

Each check runs as a program of its own, and leaves its figures in `tests/reliability/figures`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.reliability.page import PAGE, write_page

FIGURES = Path(__file__).parent / "figures"
PARTS: dict[str, Callable[[float], list[str]]] = {
    "events": lambda share: ["tests.tui.random_events", "--runs", _of(200, share)],
    "signals": lambda share: ["tests.tui.random_signals", "--runs", _of(100, share)],
    "files": lambda share: ["tests.mutations", _of(100_000, share)],
    "kills": lambda share: ["tests.kills", _of(1_000, share)],
    "surroundings": lambda share: ["tests.surroundings"],
    "threads": lambda share: ["tests.reliability.threads", "--passes", _of(2_000, share)],
    "serve": lambda share: ["tests.reliability.sessions", "--count", _of(50, share)],
    "coverage": lambda share: ["tests.reliability.covered"],
}


def main() -> int:
    """Run the parts one after the other. Returns 1 if one of them fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.reliability")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(PARTS)} (default: all)")
    parser.add_argument("--share", type=float, default=1.0, help="of the usual sizes")
    parser.add_argument("--page", action="store_true", help="only write the page")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; the parts are {', '.join(PARTS)}")
    failed = []
    for name in () if options.page else options.parts or PARTS:
        print(f"== {name}", flush=True)
        command = [*PARTS[name](options.share), "--figures", str(FIGURES / f"{name}.json")]
        if subprocess.run([sys.executable, "-m", *command], check=False).returncode:
            failed.append(name)
    write_page(FIGURES, PAGE)
    print(f"{PAGE.name} is written; {', '.join(failed) or 'nothing'} failed")
    return 1 if failed else 0


def _of(usual: int, share: float) -> str:
    return str(max(round(usual * share), 1))


if __name__ == "__main__":
    sys.exit(main())
