"""`python -m benchmarks [--only NAME] [--quick] [--rounds N] [--gate]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks import report
from benchmarks.available import available
from benchmarks.checks import CHECKS
from benchmarks.commands import commands
from benchmarks.engines import Engine
from benchmarks.figures import Check, Figure
from benchmarks.large_recordings import large_recordings
from benchmarks.measure import OURS, DifferentError, Result, keep_freed_memory, run_workload
from benchmarks.stepper import stepper
from benchmarks.workloads import WORKLOADS

EVERY_CHECK: dict[str, Check] = {
    **CHECKS,
    "stepper": stepper,
    "large recordings": large_recordings,
    "commands": commands,
}


def main() -> int:
    """Measure, print, write. Returns 1 if engines disagree, or with `--gate` if a target is missed."""
    names = [*(workload.name for workload in WORKLOADS), *EVERY_CHECK]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Compare the engine's speed with numpy by hand and other engines."
    )
    parser.add_argument(
        "--only",
        metavar="NAME",
        action="append",
        choices=names,
        help=f"run only this; repeatable. One of: {', '.join(names)}",
    )
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds, and no long chain")
    parser.add_argument(
        "--rounds", type=int, help="rounds of timing (default: 21, with --quick 3; at most 3 for long workloads)"
    )
    parser.add_argument("--gate", action="store_true", help="exit with 1 if a target is missed")
    parser.add_argument(
        "--output", type=Path, help="the page to write (default: BENCHMARKS.md, without --only and --quick)"
    )
    options = parser.parse_args()
    wanted = options.only or [name for name in names if not (options.quick and name == "long chain")]
    engines, missing = available()
    for name, why in missing.items():
        print(f"without {name}: {why}")
    rounds = options.rounds or (3 if options.quick else 21)
    keep_freed_memory()
    try:
        results, figures = measure(wanted, engines, options.quick, rounds)
    except DifferentError as error:
        print(error, file=sys.stderr)
        return 1
    missed = [f"{one.workload.title}, to {peer}" for one in results for peer in one.missed]
    missed += [one.what for one in figures if one.missed]
    print(f"\n{len(missed)} targets missed" + "".join(f"\n  {one}" for one in missed))
    output = options.output or (None if options.only or options.quick else Path("BENCHMARKS.md"))
    if output is not None:
        drawing = output.with_suffix(".svg")
        output.write_text(
            report.markdown(results, figures, engines, missing, drawing.name, rounds, options.quick), encoding="utf-8"
        )
        drawing.write_text(report.picture(results), encoding="utf-8")
        print(f"wrote {output} and {drawing}")
    return 1 if options.gate and missed else 0


def measure(
    wanted: list[str], engines: dict[str, Engine], quick: bool, rounds: int
) -> tuple[list[Result], list[Figure]]:
    """Run the workloads and checks named in `wanted`, and print each result at once."""
    results, figures = [], []
    for workload in WORKLOADS:
        if workload.name in wanted:
            long = workload.operations >= 100_000
            result = run_workload(workload, engines, min(rounds, 3) if long else rounds, 0.02 if quick else 0.1)
            results.append(result)
            cells = [f"{peer} {report.ratio_cell(result, peer)}" for peer in result.ratios]
            print(f"{workload.title}: {report.duration(result.seconds.get(OURS))};", "; ".join(cells), flush=True)
            for peer, why in result.skipped.items():
                print(f"  without {peer}: {why}")
    for name, check in EVERY_CHECK.items():
        if name in wanted:
            for figure in attempted(name, check(engines, quick)):
                figures.append(figure)
                print(report.figure_table([figure])[-1].strip("| "), flush=True)
    return results, figures


def attempted(name: str, figures: Iterator[Figure]) -> Iterator[Figure]:
    """The figures of a check, up to its failure if it fails, so that the other checks still run."""
    try:
        yield from figures
    except (RuntimeError, OSError) as error:
        yield Figure(name, None, note=f"failed: {str(error).splitlines()[0]}")


if __name__ == "__main__":
    sys.exit(main())
