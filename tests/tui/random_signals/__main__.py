"""Random signals on the real command: Ctrl+Z and fg, and everything that ends it, over many seeds; shrunk if one fails.

    python -m tests.tui.random_signals --runs 100
    python -m tests.tui.random_signals --runs 1 --seed 7        the run of a seed, again

A run that fails is told with the fewest events that fail in the same way.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.reliability.figures import write_figures
from tests.tui.random_events.shrink import shrink
from tests.tui.random_signals.plan import Event, Plan, random_plan
from tests.tui.random_signals.play import play

ENDS = {"closed": "a closed terminal"}
SUSPENDS = ("Ctrl+Z", "SIGTSTP", "SIGSTOP")


def main() -> int:
    """Run, and return how many runs failed, at most 100."""
    parser = argparse.ArgumentParser(prog="python -m tests.tui.random_signals", description="Random signals.")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--events", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0, help="of the first run")
    parser.add_argument("--trials", type=int, default=12, help="how many shorter sequences are tried of a failure")
    parser.add_argument("--figures", type=Path, help="a file for what was counted, for RELIABILITY.md")
    options = parser.parse_args()
    failed, suspends, endings, subjects = 0, 0, Counter[str](), set()
    for seed in range(options.seed, options.seed + options.runs):
        plan, begin = random_plan(seed, options.events), time.monotonic()
        wrong = in_a_folder(plan)
        took = time.monotonic() - begin
        print(f"run {seed}, {plan.subject}, {plan.ending}: {wrong or 'passed'} ({took:.0f} s)", flush=True)
        suspends += sum(one.kind in SUSPENDS for one in plan.events)
        endings[ENDS.get(plan.ending, plan.ending.split()[0])] += 1
        subjects.add(plan.subject)
        if wrong is not None:
            failed += 1
            print(f"  {shrunk(plan, wrong, options.trials)}", flush=True)
    if options.figures is not None:
        write_figures(
            options.figures, runs=options.runs, events=options.events, failed=failed, suspends=suspends,
            subjects=len(subjects), endings=[[name, str(count)] for name, count in sorted(endings.items())],
        )  # fmt: skip
    print(f"{options.runs - failed} of {options.runs} runs passed, with {suspends} times suspended and continued")
    return min(failed, 100)


def in_a_folder(plan: Plan) -> str | None:
    """Play in a folder of its own. Returns what is wrong, or None."""
    with tempfile.TemporaryDirectory() as folder:
        return play(plan, Path(folder))


def shrunk(plan: Plan, wrong: str, trials: int) -> Plan:
    """The plan with the fewest events that goes wrong in the same way."""

    def fails(events: list[Event]) -> bool:
        found = in_a_folder(plan._replace(events=events))
        return found is not None and found.partition(" (event")[0] == wrong.partition(" (event")[0]

    return plan._replace(events=shrink(plan.events, fails, trials))


if __name__ == "__main__":
    sys.exit(main())
