"""What the tests run of the code is counted file by file, and a recorder traces as it does without coverage."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from coverage import CoverageData

from tests.reliability import covered

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
import microtape as mt

class Twice(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad_z):
        doubled = grad_z * 2
        return doubled

x = mt.tensor(3.0, requires_grad=True)
with mt.record() as recorder:
    z = Twice.apply(x)
    z.backward()
assert sys.gettrace() is None
print([(call.name, call.steps[0].kind, call.steps[-1].place.line) for call in recorder.recording.calls])
"""


def test_under_coverage_the_recorder_sees_where_a_function_begins_and_ends(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    run = [sys.executable, "program.py"]
    measured = [sys.executable, "-m", "coverage", "run", f"--rcfile={ROOT / 'pyproject.toml'}", "program.py"]
    plain, told = [subprocess.run(one, cwd=tmp_path, capture_output=True, text=True) for one in (run, measured)]
    assert told.stdout == plain.stdout, told.stderr
    assert "('Twice.backward', 'enter', 12)" in told.stdout


def test_under_coverage_what_follows_a_traced_function_is_measured(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "coverage", "run", f"--rcfile={ROOT / 'pyproject.toml'}", "--source=."]
    subprocess.run([*command, "program.py"], cwd=tmp_path, capture_output=True, check=True)
    (file,) = tmp_path.glob(".coverage.*")
    data = CoverageData(str(file))
    data.read()
    (measured,) = data.measured_files()
    assert {8, 11, 12, 14, 15, 16, 17, 18, 19} <= set(data.lines(measured) or [])


def test_parts_are_counted_together_but_not_what_was_measured_before_a_file_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    same, changed, never_run = [
        str(ROOT / one) for one in ("microtape/absent.py", "microtape/errors.py", "viz/__init__.py")
    ]
    assert {same, changed, never_run} <= set(map(str, covered._code()))
    monkeypatch.setattr(covered, "KEPT", tmp_path)
    monkeypatch.setattr(covered, "_code", lambda: [Path(same), Path(changed), Path(never_run)])  # all takes seconds
    for part, line in (("viz", 3), ("tui", 7)):
        data = CoverageData(str(tmp_path / f"{part}.coverage"))
        data.add_arcs({same: [(-1, line)], changed: [(-1, line)]})
        code = {same: covered.digest(Path(same)), changed: "of another text"}
        (tmp_path / f"{part}.json").write_text(json.dumps({"code": code}))
    together = CoverageData(str(covered.put_together()))
    together.read()
    assert together.lines(same) == [3, 7]
    assert together.lines(changed) == []
    assert never_run in together.measured_files()


def test_a_failure_does_not_count_once_the_test_has_passed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(covered, "KEPT", tmp_path)
    (tmp_path / "tui.json").write_text(json.dumps({"failed": ["tests.a::one", "tests.a::two"]}))
    (tmp_path / "again.xml").write_text(
        """<testsuites><testsuite><testcase classname="tests.a" name="one"/>
        <testcase classname="tests.a" name="two"><failure/></testcase>
        <testcase classname="tests.a" name="three"><error/></testcase>
        <testcase classname="tests.a" name="four"><skipped/></testcase></testsuite></testsuites>"""
    )
    passed, failed = covered._outcomes(tmp_path / "again.xml")
    assert (passed, failed) == ({"tests.a::one"}, {"tests.a::two", "tests.a::three"})
    covered._forget_failures(passed)
    assert json.loads((tmp_path / "tui.json").read_text()) == {"failed": ["tests.a::two"]}


def test_a_package_is_counted_by_its_lines_and_branches() -> None:
    file = {"num_statements": 30, "missing_lines": 2, "num_branches": 10, "missing_branches": 1}
    rows = covered.packages({f"{package}/{name}.py": file for package in covered.PACKAGES for name in "ab"})
    assert rows[1] == ["viz", "60", "4", "20", "2", "92.5"]
