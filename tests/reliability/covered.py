"""How much of the code the tests run: all of them, the slow ones and those on torch included.

python -m tests.reliability.covered                  what has not been measured yet
python -m tests.reliability.covered viz tui-slow     these parts, whether or not they have been
python -m tests.reliability.covered tests/viz/scene  all tests of a folder or a file, in addition to the parts

All together takes hours. A part is the fast or the slow tests of one folder. What it measures is kept in
`build/coverage`, so that a run can be ended after any part and continued later. What was measured of a file that has
changed since does not count, and a failure does not if the test has passed in a run after it.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from coverage import Coverage, CoverageData

from tests.reliability.figures import write_figures

ROOT = Path(__file__).parents[2]
PACKAGES = ("microtape", "viz", "tui", "lessons")
KEPT = ROOT / "build" / "coverage"
NOT_UNDER_COVERAGE = (
    # coverage ends in UnicodeEncodeError if it meets code of a file that is named by a surrogate
    "microtape/recording/writing/test_every_operation.py::test_code_may_come_from_any_file[x\\ud800.py]",
    # a script whose thread works without end is ended, but not while coverage saves what that thread goes on to do
    "microtape/recording/writing/test_threads.py::test_a_script_of_which_one_thread_is_recorded",
    "microtape/recording/writing/test_threads.py::test_a_script_is_stopped_after_the_first_pass_of_a_thread",
)


def main() -> int:
    """Run the parts. Returns 1 if a test fails."""
    parts = all_parts()
    parser = argparse.ArgumentParser(prog="python -m tests.reliability.covered")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(parts)}")
    parser.add_argument("--figures", type=Path, help="a file for what was counted, for RELIABILITY.md")
    parser.add_argument("--only-count", action="store_true", help="run nothing, and count what has been measured")
    options = parser.parse_args()
    if unknown := [one for one in options.parts if one not in parts and not (ROOT / one).exists()]:
        parser.error(f"there is no part {', '.join(unknown)}")
    for name in () if options.only_count else options.parts or [one for one in parts if not _notes(one).exists()]:
        print(f"-- {name}", flush=True)
        measure(name, *parts.get(name, (name, "")))
    measured = [json.loads(notes.read_text()) for notes in KEPT.glob("*.json")]
    failed = sum(len(one["failed"]) for one in measured)
    rows = packages(counted())
    for row in rows:
        print("{:10} {:>6} lines, {:>4} not run; {:>6} branches, {:>4} not taken: {} %".format(*row))
    left = [name for name in parts if not _notes(name).exists()]
    print(f"{failed} tests failed; {', '.join(left) or 'no part'} is not measured yet")
    if options.figures is not None:
        write_figures(
            options.figures, packages=rows, failed=failed, left=[[name] for name in left],
            tests=sum(json.loads(_notes(name).read_text())["tests"] for name in parts if _notes(name).exists()),
        )  # fmt: skip
    return 1 if failed else 0


def all_parts() -> dict[str, tuple[str, str]]:
    """The folder of tests and the marks that each part is made of."""
    folders = sorted({path.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").rglob("test_*.py")})
    fast = {name: (f"tests/{name}", "not slow") for name in folders}
    return fast | {f"{name}-slow": (f"tests/{name}", "slow") for name in folders}


def measure(name: str, tests: str, marks: str) -> None:
    """Run the tests of a part, and keep what they measured and how they ended."""
    pieces = _data(name).with_suffix(".pieces")  # one of each process
    shutil.rmtree(pieces, ignore_errors=True)
    pieces.mkdir(parents=True)
    code = {str(path): digest(path) for path in _code()}
    pytest = ["pytest", "-m", marks, "-p", "tests.support.patient_workers", f"--junitxml={pieces / 'outcomes.xml'}"]
    chosen = [tests, *(f"--deselect=tests/{one}" for one in NOT_UNDER_COVERAGE)]
    environment = {**os.environ, "COVERAGE_FILE": str(pieces / "data"), "MICROTAPE_REQUIRE_TORCH": "1"}
    command = [sys.executable, "-m", "coverage", "run", "-m", *pytest, *chosen]
    subprocess.run(command, cwd=ROOT, env=environment, check=False)
    together = Coverage(data_file=str(_data(name)), config_file=str(ROOT / "pyproject.toml"))
    together.combine([str(one) for one in pieces.glob("data.*")])
    together.save()
    passed, failed = _outcomes(pieces / "outcomes.xml")
    _forget_failures(passed)
    _notes(name).write_text(json.dumps({"tests": len(passed | failed), "failed": sorted(failed), "code": code}))
    shutil.rmtree(pieces)


def _outcomes(path: Path) -> tuple[set[str], set[str]]:
    """The tests that passed, and those that failed."""
    (suite,) = ElementTree.parse(path).getroot().iter("testsuite")
    passed, failed = set(), set()
    for case in suite.iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            failed.add(name)
        elif "skipped" not in kinds:
            passed.add(name)
    return passed - failed, failed


def _forget_failures(passed: Collection[str]) -> None:
    """A test that failed in a part that was measured before, and passes now, has not failed any more."""
    for notes in KEPT.glob("*.json"):
        known = json.loads(notes.read_text())
        if failed := [one for one in known["failed"] if one in passed]:
            known["failed"] = [one for one in known["failed"] if one not in failed]
            notes.write_text(json.dumps(known))


def put_together() -> Path:
    """What all parts have measured, in one file, which is returned."""
    path = KEPT / "all"
    path.unlink(missing_ok=True)
    every = CoverageData(str(path))
    now = {str(path): digest(path) for path in _code()}
    for notes in sorted(KEPT.glob("*.json")):
        data = CoverageData(str(_data(notes.stem)))
        data.read()
        code = json.loads(notes.read_text())["code"]
        data.purge_files([one for one in data.measured_files() if one not in now or code.get(one) != now[one]])
        every.update(data)
    every.touch_files(map(str, _code()))  # what no part has met counts as well
    return path


def counted() -> dict[str, dict[str, int]]:
    """Of each file, what coverage counts in all parts together."""
    measured = Coverage(data_file=str(put_together()), config_file=str(ROOT / "pyproject.toml"))
    measured.load()
    report = KEPT / "report"
    measured.json_report(outfile=str(report), ignore_errors=True)  # tests make code of files that are none
    files: dict[str, Any] = json.loads(report.read_text())["files"]
    return {name: one["summary"] for name, one in files.items()}


def packages(files: dict[str, dict[str, int]]) -> list[list[str]]:
    """A row for each package: its lines, those that did not run, its branches, those not taken, and the percentage."""
    rows = []
    for package in PACKAGES:
        inside = [one for name, one in files.items() if Path(name).parts[0] == package]
        keys = ("num_statements", "missing_lines", "num_branches", "missing_branches")
        lines, not_run, branches, not_taken = [sum(one[key] for one in inside) for key in keys]
        percent = 100 * (1 - (not_run + not_taken) / (lines + branches))
        rows.append([package, *map(str, (lines, not_run, branches, not_taken)), f"{percent:.1f}"])
    return rows


def digest(path: Path) -> str:
    """What tells two states of a file apart: its statements and their lines, whatever its comments say."""
    tree = ast.parse(path.read_bytes())
    return hashlib.sha256(ast.dump(tree, include_attributes=True).encode()).hexdigest()


def _code() -> list[Path]:
    return [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]


def _data(name: str) -> Path:
    return KEPT / f"{name.replace('/', ' ')}.coverage"


def _notes(name: str) -> Path:
    return _data(name).with_suffix(".json")


if __name__ == "__main__":
    sys.exit(main())
