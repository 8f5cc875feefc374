"""Prints how the findings of each program are judged; arguments choose programs by a part of their names.

python -m tests.programs                 a row for each program
python -m tests.programs --misses nan    only wrong rows of programs whose name contains `nan`
python -m tests.programs --output relu   what each program prints or raises as well
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path

from microtape.recording.findings import findings
from tests.programs.corpus import (
    ROOT,
    Verdict,
    broken_programs,
    broken_torch_programs,
    expected,
    healthy_programs,
    healthy_torch_programs,
    record_program,
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.programs")
    parser.add_argument("names", nargs="*", help="parts of names of programs")
    parser.add_argument("--misses", action="store_true", help="leave out the rows that are as expected")
    parser.add_argument("--output", action="store_true", help="show what the programs print or raise")
    options = parser.parse_args()

    def chosen(programs: list[Path]) -> list[Path]:
        return [one for one in programs if not options.names or any(part in str(one) for part in options.names)]

    has_torch = find_spec("torch") is not None
    broken = chosen([*broken_programs(), *(broken_torch_programs() if has_torch else [])])
    right = 0
    for program in broken:
        recording, printed = record_program(program)
        verdict = Verdict(program, expected(program), findings(recording))
        right += not verdict.misses
        if verdict.misses or not options.misses:
            _print_row(verdict)
        if options.output:
            failed = [one.error for one in recording.passes if one.error is not None]
            ended = failed[0] if failed else recording.error
            _print_output(printed + (f"{ended.type}: {ended.message}" if ended is not None else ""))
    alarms = 0
    healthy = chosen([*healthy_programs(), *(healthy_torch_programs() if has_torch else [])])
    for program in healthy:
        recording, printed = record_program(program)
        loud = [one for one in findings(recording) if one.severity != "notice"]
        alarms += len(loud)
        for one in loud:
            line = one.place.line if one.place is not None else "?"
            print(f"✗ {program.relative_to(ROOT)}:{line}  {one.kind} ({one.severity})  {one.headline}")
        if options.output:
            print(program.relative_to(ROOT))
            _print_output(printed + (f"{recording.error.type}: {recording.error.message}" if recording.error else ""))
    print(f"{right} of {len(broken)} broken programs as expected; {alarms} alarms in {len(healthy)} healthy ones")


def _print_row(verdict: Verdict) -> None:
    wanted = f"{' or '.join(verdict.expected.kinds)}:{' or '.join(map(str, verdict.expected.lines))}"
    print(f"{'✗' if verdict.misses else '✓'} {verdict.program.stem:<32} {wanted:<28}", end="")
    if verdict.found:
        first = verdict.found[0]
        line = first.place.line if first.place is not None else "?"
        print(f" {f'{first.kind}:{line}':<24} {first.severity:<8} {first.headline}", end="")
    print(f"   <- {', '.join(verdict.misses)}" if verdict.misses else "")


def _print_output(text: str) -> None:
    print("".join(f"      {line}\n" for line in text.splitlines()), end="")


if __name__ == "__main__":
    main()
