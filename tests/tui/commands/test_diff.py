"""`microtape diff`: what it prints, as text and as JSON, and its exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from microtape import save
from microtape.recording.model.summary import summarize
from tests.support.recordings import handmade
from tui.commands.cli import main
from tui.shell.exits import Exit

TRAINING = """\
import microtape as mt

w = mt.tensor([1.0, 2.0], requires_grad=True)
for epoch in range(2):
    loss = (w * w).sum()
    loss.backward()
    with mt.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
"""
NAMED = "first difference: forward of pass 2, MulBackward0 at a.py:5 `w * w`: its operand w, updated at a.py:8, "


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    (tmp_path / "a.py").write_text(TRAINING)
    (tmp_path / "b.py").write_text(TRAINING.replace("0.1 *", "0.2 *"))
    return tmp_path


def diff(*arguments: str, capfd: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    code = main(["diff", *arguments])
    return code, capfd.readouterr().out.splitlines()


def test_it_names_the_first_difference_and_says_what_agrees(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, lines = diff("a.py", "b.py", "--pass", "all", capfd=capfd)
    assert code == Exit.FOUND
    assert " ".join(line.strip() for line in lines[:2]) == (f"{NAMED}is 1.6 in a.py, 1.2 in b.py at [1], relative 0.25")
    assert lines[2:] == [
        "6 differences follow from it",
        "23 values compared: 16 equal to the bit, 7 differ; largest relative difference 4.4e-1",
        "$ microtape step a.py --beside b.py --pass all",
    ]


def test_equal_to_the_bit(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    save(handmade.diamond(), "a.tape")
    save(handmade.diamond(), "b.tape")
    code, lines = diff("a.tape", "b.tape", "--rtol", "0", capfd=capfd)
    assert code == Exit.OK
    assert lines == ["a.tape and b.tape are equal", "21 values compared: 21 equal to the bit"]


def test_a_script_is_compared_with_a_recording_and_with_itself(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    main(["record", "a.py"])
    code, lines = diff("a.tape", "a.py", capfd=capfd)
    assert (code, lines[0]) == (Exit.OK, "a.tape and a.py are equal")
    code, lines = diff("a.py", "a.py", capfd=capfd)
    assert (code, lines[0]) == (Exit.OK, "the first and the second are equal")


def test_what_the_scripts_print_is_not_among_it(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (here / "loud.py").write_text(f"{TRAINING}\nprint('printed')\n")
    code, lines = diff("a.py", "loud.py", "--pass", "all", capfd=capfd)
    assert code == Exit.OK
    assert "printed" not in lines


def test_tolerances(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert diff("a.py", "b.py", "--pass", "all", "--rtol", "0.5", capfd=capfd)[0] == Exit.OK
    assert diff("a.py", "b.py", "--pass", "all", "--atol", "10", capfd=capfd)[0] == Exit.OK
    code, lines = diff("a.py", "b.py", "--pass", "all", "--rtol", "0.001", capfd=capfd)
    assert code == Exit.FOUND
    assert lines[-1] == "$ microtape step a.py --beside b.py --pass all --rtol 0.001"


def test_only_the_passes_that_are_asked_for(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert diff("a.py", "b.py", "--pass", "1", capfd=capfd)[0] == Exit.OK
    main(["record", "a.py", "--pass", "all"])
    main(["record", "b.py", "--pass", "all"])
    assert diff("a.tape", "b.tape", "--pass", "1", capfd=capfd)[0] == Exit.OK
    assert diff("a.tape", "b.tape", "--pass", "2", capfd=capfd)[0] == Exit.FOUND


def test_what_has_no_counterpart_is_said_and_the_exit_code_is_another_one(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (here / "more.py").write_text(TRAINING.replace("(w * w)", "(w * w * 1.0)"))
    code, lines = diff("a.py", "more.py", capfd=capfd)
    assert code == Exit.NOT_ALL_COMPARED
    assert lines[0] == "a.py and more.py are equal in what could be compared"
    assert lines[-1] == "1 node of more.py has no counterpart: MulBackward0 at more.py:5 `w * w * 1.0`"
    main(["record", "a.py", "--pass", "all"])
    code, lines = diff("a.tape", "a.py", capfd=capfd)
    assert (code, lines[-1]) == (Exit.NOT_ALL_COMPARED, "not compared: pass 2 of a.tape, without a counterpart")


def test_values_of_which_only_statistics_are_there(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    recording = handmade.chain(4)
    main(["record", "a.py"])
    save(recording, "a.tape")
    for tensor in recording.tensors:
        for version, value in tensor.values.items():
            tensor.values[version] = summarize(value)  # type: ignore[index,arg-type]
    save(recording, "b.tape")
    code, lines = diff("a.tape", "b.tape", capfd=capfd)
    assert code == Exit.OK
    assert lines[0] == "a.tape and b.tape are equal as far as was recorded"
    assert any("compared by statistics alone" in line for line in lines)


@pytest.fixture
def courses(here: Path) -> None:
    """Records the sizes of every second pass of ten, with a larger rate from the seventh on in b."""
    ten = TRAINING.replace("range(2)", "range(10)")
    (here / "a.py").write_text(ten)
    (here / "b.py").write_text(ten.replace("0.1 *", "(0.1 if epoch < 6 else 0.2) *"))
    for name in ("a", "b"):
        assert main(["record", f"{name}.py", "--every", "2"]) == Exit.OK


def test_the_pass_where_courses_part(courses: None, capfd: pytest.CaptureFixture[str]) -> None:
    code, lines = diff("a.tape", "b.tape", capfd=capfd)
    assert code == Exit.FOUND
    assert lines[0] == (
        "the course of training parts at pass 8: the weight of w has the norm 0.4689 in a.tape, 0.3517 in b.tape, "
        "relative 0.25"
    )
    assert "first difference in a whole pass: forward of pass 10" in lines[1]
    assert "20 sizes at 5 passes compared: 8 differ" in lines
    code, lines = diff("a.tape", "b.tape", "--rtol", "0.9", capfd=capfd)
    assert code == Exit.OK
    assert "20 sizes at 5 passes compared: all agree" in lines


def test_equal_courses(courses: None, capfd: pytest.CaptureFixture[str]) -> None:
    code, lines = diff("a.tape", "a.tape", "--rtol", "0", capfd=capfd)
    assert code == Exit.OK
    assert lines[0] == "the first and the second are equal as far as was recorded"


def test_courses_without_a_counterpart(courses: None, here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    renamed = (here / "a.py").read_text().replace("w = mt", "u = w = mt").replace("w -=", "u -=")
    (here / "b.py").write_text(renamed)
    main(["record", "b.py", "--every", "5"])
    code, lines = diff("a.tape", "b.tape", capfd=capfd)
    assert code == Exit.NOT_ALL_COMPARED
    assert "not compared: the sizes at 4 passes of a.tape, from 2 on" in lines
    assert "not compared: the sizes of w of a.tape, without a counterpart" in lines


def test_the_courses_in_json(courses: None, capfd: pytest.CaptureFixture[str]) -> None:
    _, lines = diff("a.tape", "b.tape", "--json", capfd=capfd)
    found = json.loads("\n".join(lines))["courses"]
    assert (found["passes"], found["sizes"], found["count"]) == ([1, 3, 5, 7, 9], 20, 8)
    first = found["differences"][0]
    assert (first["pass"], first["kind"], first["parameter"], first["statistic"]) == (7, "weight", "w", "norm")


def test_json(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, lines = diff("a.py", "b.py", "--pass", "all", "--json", capfd=capfd)
    data = json.loads("\n".join(lines))
    assert code == Exit.FOUND
    assert (data["a"], data["b"], data["equal"], data["complete"]) == ("a.py", "b.py", False, True)
    assert data["counts"] == {"values": 23, "identical": 16, "by_statistics": 0, "unknown": 0, "differences": 7}
    first = data["differences"][0]
    assert (first["kind"], first["pass"], first["at"], first["follows"]) == ("input", {"a": 1, "b": 1}, [1], False)
    assert first["values"] == {"a": pytest.approx(1.6), "b": pytest.approx(1.2)}
    assert all(one["follows"] for one in data["differences"][1:])


def test_json_has_no_numbers_that_json_lacks(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (here / "nan.py").write_text(TRAINING.replace("[1.0, 2.0]", "[float('nan'), 2.0]"))
    code, lines = diff("a.py", "nan.py", "--json", capfd=capfd)
    data = json.loads("\n".join(lines), parse_constant=lambda name: pytest.fail(name))
    assert code == Exit.FOUND
    assert data["differences"][0]["values"] == {"a": 1.0, "b": "nan"}
    code, lines = diff("a.py", "nan.py", capfd=capfd)
    assert lines[0].endswith("its operand w is 1 in a.py, nan in nan.py at [0]")


def test_control_characters_of_a_recording_do_not_reach_the_terminal(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    evil = TRAINING.replace("w * w", "w * w  # \\x1b[31m").replace("\\x1b", "\x1b").replace(").sum", "\n).sum")
    (here / "evil.py").write_text(evil.replace("0.1", "0.3"))
    _, lines = diff("a.py", "evil.py", "--pass", "all", capfd=capfd)
    assert not any("\x1b" in line for line in lines)
    _, lines = diff("evil.py", "a.py", "--pass", "all", "--ascii", capfd=capfd)
    assert all(line.isascii() and "\x1b" not in line for line in lines)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.py"], "the following arguments are required: B"),
        (["a.py", "gone.tape"], "gone.tape: cannot be read"),
        (["a.py", "b.py", "--rtol", "-1"], "'-1' is not a tolerance, such as 1e-5"),
        (["a.py", "b.py", "--atol", "nan"], "'nan' is not a tolerance, such as 1e-5"),
        (["a.tape", "b.py", "--keep", "10"], "--keep is for recording a script: a.tape is a recording"),
        (["a.tape", "a.tape", "--pass", "7"], "no pass 7 in this recording"),
    ],
)
def test_trouble_is_one_line(here: Path, arguments: list[str], message: str, capfd: pytest.CaptureFixture[str]) -> None:
    save(handmade.diamond(), "a.tape")
    assert main(["diff", *arguments]) == Exit.BAD_INPUT
    assert message in capfd.readouterr().err


def test_a_pass_that_fails_only_after_a_change(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    fine = TRAINING.replace("(w * w).sum()", "w.exp()").replace("loss.b", "loss = loss.sum(); loss.b")
    (here / "a.py").write_text(fine)
    (here / "fails.py").write_text(fine.replace("loss = loss.sum()", "loss.mul_(1); loss = loss.sum()"))
    code, lines = diff("a.py", "fails.py", capfd=capfd)
    assert code == Exit.FOUND
    told = " ".join(line.strip() for line in lines)
    assert "pass 1: it runs to its end in a.py; fails in fails.py at ExpBackward0 at fails.py:5 `w.exp()`" in told


def test_without_a_terminal_step_beside_prints_the_differences(here: Path) -> None:
    command = [sys.executable, "-m", "microtape", "step", "a.py", "--beside", "b.py", "--pass", "all"]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == Exit.FOUND
    assert ran.stdout.startswith("first difference: forward of pass 2, MulBackward0 at a.py:5")


def test_tolerances_of_step_are_for_two_recordings(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["step", "a.py", "--rtol", "0"]) == Exit.BAD_INPUT
    assert "add --beside OTHER" in capfd.readouterr().err
