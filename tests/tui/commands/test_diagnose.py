"""`microtape diagnose`: what it prints, as text and as JSON, and its exit codes."""

from __future__ import annotations

import contextlib
import json
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import microtape as mt
from microtape import save
from microtape.recording.findings import findings
from microtape.recording.model.model import FAULT
from tests.programs.corpus import HERE, broken_programs
from tests.support.recordings import handmade
from tui.commands.cli import main
from tui.shell.exits import Exit
from tui.words.diagnosis import Diagnosis

LOOP = """\
import microtape as mt
w = mt.tensor([1.0, 2.0], requires_grad=True)
for epoch in range(5):
    loss = (w * w).sum()
    loss.backward()
    with mt.no_grad():
        w -= 0.1 * w.grad
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "104")
    return tmp_path


def diagnosed(*arguments: str, capfd: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    code = main(["diagnose", *arguments])
    return code, capfd.readouterr().out.splitlines()


@pytest.mark.parametrize(("status", "why"), [(0, "the script ended"), (3, "the script exited with status 3")])
def test_the_status_of_a_script_is_told_where_it_becomes_the_exit_code(
    here: Path, capfd: pytest.CaptureFixture[str], status: int, why: str
) -> None:
    program = "import sys, microtape as mt\nmt.tensor(2.0, requires_grad=True).exp().backward()\n"
    (here / "exits.py").write_text(f"{program}sys.exit({status})\n")
    code, lines = diagnosed("exits.py", capfd=capfd)
    assert (code, lines) == (status, [f"exits.py: nothing wrong was found in 1 pass ({why})"])


def test_a_finding_has_its_line_explanation_remedy_and_command(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (here / "train.py").write_text(LOOP)
    code, lines = diagnosed("train.py", capfd=capfd)
    assert code == Exit.FOUND
    assert lines == [
        "✗ w.grad is never reset: train.py:5 adds to the gradient of the pass before",
        "    train.py:5:  loss.backward()",
        "    Pass 2 adds to w.grad what it had from the pass before: root mean square 3.162 before, 2.53 new,",
        "    5.692 afterwards.",
        "    The update at train.py:7 uses it, so that each step repeats all earlier ones.",
        "    Remedy: Set w.grad = None after each update.",
        "    Lesson 8 is about this: microtape learn grad_accumulates",
        "    $ microtape step train.py --pass 1-2",
        "",
        "train.py: 1 finding in 2 passes (stopped there)",
    ]


def test_the_command_that_it_names_shows_the_finding(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (here / "train.py").write_text(LOOP)
    assert main(["record", "train.py", "--pass", "1-2"]) == Exit.OK
    code, lines = diagnosed("train.tape", capfd=capfd)
    assert code == Exit.FOUND
    assert "w.grad is never reset" in lines[0]
    assert "    $ microtape step train.tape" in lines
    assert lines[-1] == "train.tape: 1 finding in 2 passes"


# Of those whose findings need more passes than the one that they are about, or the end of the script.
_NEED_MORE = ("annealing", "deep_tower", "docking", "heavy_ball", "impatient_schedule", "painter_sums", "quick_learner")


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    [one for i, one in enumerate(broken_programs()) if i % 16 == 0 or one.stem in _NEED_MORE],
    ids=lambda path: path.stem,
)
def test_the_command_shows_the_finding_of_a_broken_program(
    program: Path, here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    first = first_finding(str(program), capfd=capfd)
    words = shlex.split(first["command"])[2:]
    search = [] if "--pass" in words else ["--search", "10"]  # as step does
    main(["record", *words, *search, "-o", "again.tape"])
    again = first_finding("again.tape", capfd=capfd)
    assert (again["kind"], again["place"]["line"]) == (first["kind"], first["place"]["line"])
    assert again["pass"] == first["pass"]


def first_finding(file: str, *, capfd: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capfd.readouterr()
    main(["diagnose", file, "--json"])
    found: dict[str, Any] = json.loads(capfd.readouterr().out)["findings"][0]
    return found


def test_nothing_wrong(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    save(handmade.diamond(), "run.tape")
    assert diagnosed("run.tape", capfd=capfd) == (Exit.OK, ["run.tape: nothing wrong was found in 1 pass"])


def test_what_was_not_recorded_is_not_called_right(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    save(replace(handmade.diamond(), notes=(f"{FAULT} an operation",)), "run.tape")
    _, lines = diagnosed("run.tape", capfd=capfd)
    assert lines == ["run.tape: nothing wrong was found in 1 pass, not all of which was recorded"]


def test_a_notice_is_no_reason_for_another_exit_code(capfd: pytest.CaptureFixture[str]) -> None:
    code, lines = diagnosed(str(HERE / "healthy" / "separated.py"), capfd=capfd)
    assert code == Exit.OK
    assert lines[0].startswith("· The gradient of b is zero")


def test_a_failure_of_another_kind_keeps_its_exit_code(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (here / "good.py").write_text("import microtape as mt\nmt.ones(1, requires_grad=True).backward()\n[][0]\n")
    code, lines = diagnosed("good.py", capfd=capfd)
    assert code == Exit.SCRIPT_FAILED
    assert lines == ["good.py: the script failed, and nothing in 1 pass shows why"]


def test_a_failure_before_the_first_pass(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (here / "good.py").write_text("import microtape as mt\nx = mt.ones(1, requires_grad=True) * 2\n[][0]\n")
    code, lines = diagnosed("good.py", capfd=capfd)
    assert code == Exit.SCRIPT_FAILED
    assert lines == ["good.py: the script failed before its first pass, and nothing shows why"]


def test_a_failure_that_is_explained(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (here / "bad.py").write_text("import microtape as mt\nx = mt.ones(2, requires_grad=True)\n(x * 2).backward()\n")
    code, lines = diagnosed("bad.py", capfd=capfd)
    assert code == Exit.FOUND
    assert "grad can be implicitly created only for scalar outputs" in " ".join(lines)


def test_json(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (here / "train.py").write_text(LOOP)
    code, lines = diagnosed("train.py", "--json", "--", "--rate", "1", capfd=capfd)
    data = json.loads("\n".join(lines))
    assert code == Exit.FOUND
    assert (data["file"], data["passes"], data["ended"]) == ("train.py", 2, "found")
    (found,) = data["findings"]
    assert (found["kind"], found["severity"], found["pass"], found["tensor"]) == ("accumulated", "error", 2, "w")
    assert (found["place"]["line"], found["place"]["text"]) == (5, "loss.backward()")
    assert found["others"][0]["role"] == "updated"
    assert found["command"] == "microtape step train.py --pass 1-2 -- --rate 1"


def test_functions_are_checked_unless_told_not_to(capfd: pytest.CaptureFixture[str]) -> None:
    program = str(HERE / "broken" / "volume.py")
    code, lines = diagnosed(program, capfd=capfd)
    assert code == Exit.FOUND
    assert "Cube.backward is wrong" in lines[0]
    assert "--check" in next(one for one in lines if one.lstrip().startswith("$"))
    code, lines = diagnosed(program, "--no-check", capfd=capfd)
    assert code == Exit.OK


def test_plain_ascii(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, lines = diagnosed(str(HERE / "broken" / "huber.py"), "--ascii", capfd=capfd)
    assert code == Exit.FOUND
    assert all(one.isascii() for one in lines)


def test_at_most_a_screen_of_many_findings(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    lines = ["import microtape as mt", "loss = mt.zeros(())"]
    for i in range(30):
        lines += [f"w{i} = mt.tensor(1.0, requires_grad=True)", f"unused{i} = w{i} * 2"]
    lines += ["x = mt.tensor(0.0, requires_grad=True)", "x.sqrt().backward()"]
    lines += ["with mt.no_grad():", *[f"    w{i} += 1" for i in range(30)]]
    (here / "many.py").write_text("\n".join(lines))
    code, out = diagnosed("many.py", capfd=capfd)
    assert code == Exit.FOUND
    assert len(out) <= 40
    assert "more; --json lists all" in "\n".join(out)


@pytest.mark.parametrize(("height", "in_full"), [(60, 3), (18, 2), (12, 1), (5, 1)])
def test_a_low_screen_has_fewer_findings_in_full(here: Path, height: int, in_full: int) -> None:
    def program() -> None:
        for _ in range(3):
            x = mt.tensor([0.0, 1.0], requires_grad=True)
            with contextlib.suppress(RuntimeError):
                y = x.exp()
                loss = (y * y).sum()
                y += 1
                loss.backward()

    recording = mt.record(program)
    lines = Diagnosis(recording, findings(recording), "run.tape").report(100, height)
    assert sum(line.lstrip().startswith("Remedy:") for line in lines) == in_full
    assert len(lines) <= height or in_full == 1
    assert sum(line.startswith("✗") for line in lines) == 3


def test_without_a_terminal_only_the_report_is_on_standard_output(here: Path) -> None:
    (here / "train.py").write_text(LOOP + "print('printed by the script')\n")
    command = [sys.executable, "-m", "microtape", "diagnose", "train.py"]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == Exit.FOUND
    assert ran.stdout.startswith("✗ w.grad")
    assert "printed" not in ran.stdout
