"""`microtape record` with `--every` and `--rank`, and the courses that `trace` prints."""

import json
import os
from pathlib import Path

import pytest

from microtape import load
from tui.commands.cli import main
from tui.shell.exits import Exit

TRAIN = """\
import sys
import microtape as mt
w = mt.tensor([1.0, 2.0], requires_grad=True)
b = mt.tensor(0.5, requires_grad=True)
for number in range(1, 21):
    w.grad = b.grad = None
    loss = (w * w).sum() + b * 0.0
    loss.backward()
    with mt.no_grad():
        w -= 0.1 * w.grad
print("the end", *sys.argv[1:])
sys.exit(4 if sys.argv[1:] else 0)
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(TRAIN)
    return "train.py"


def test_every_records_the_course_of_the_whole_run(script, capfd):
    assert main(["record", script, "--every", "5"]) == Exit.OK
    recording = load("train.tape")
    assert [one.pass_ + 1 for one in recording.courses] == [5, 10, 15, 20]
    assert [one.index + 1 for one in recording.passes] == [20]
    assert capfd.readouterr().out == "the end\n"


def test_every_goes_with_until(script):
    assert main(["record", script, "--every", "5", "--until", "grad.max() < 0.3 and name == 'w'"]) == Exit.OK
    recording = load("train.tape")
    assert [one.pass_ + 1 for one in recording.courses] == [5, 10]
    assert [one.index + 1 for one in recording.passes] == [13]


def test_the_trace_prints_the_courses_the_worst_first(script, capfd):
    assert main(["trace", script, "--every", "4", "--courses", "--ascii"]) == Exit.OK
    heading, loss, titles, *rows = capfd.readouterr().out.splitlines()
    assert heading.startswith("5 passes, 4 to 20")
    assert loss.startswith("loss")
    assert titles.split() == ["name", "|w|", "|g|", "update/weight"]
    assert [row.split()[0] for row in rows] == ["b", "w"]
    assert rows[0].endswith("gradient is zero")
    assert rows[1].split()[-3] == "0.2"


def test_the_courses_as_json(script, capfd):
    assert main(["trace", script, "--every", "10", "--courses", "--json"]) == Exit.OK
    courses = json.loads(capfd.readouterr().out)["courses"]
    assert [one["pass"] for one in courses] == [9, 19]
    assert [one["name"] for one in courses[0]["parameters"]] == ["w", "b"]
    assert courses[0]["parameters"][0]["gradient"]["nans"] == 0


def test_a_recording_without_courses_says_how_to_get_them(script, capfd):
    assert main(["trace", script, "--courses"]) == Exit.BAD_INPUT
    expected = "microtape: there is no course in this recording: record the program with --every 100\n"
    assert capfd.readouterr().err.endswith(expected)


@pytest.mark.parametrize("every", ["0", "x", "-3"])
def test_every_takes_a_number_of_passes(script, every, capfd):
    assert main(["record", script, f"--every={every}"]) == Exit.BAD_INPUT
    assert f"{every!r} is not a number of passes" in capfd.readouterr().err


def test_every_and_pass_contradict_each_other(script, capfd):
    assert main(["record", script, "--every", "2", "--pass", "3"]) == Exit.BAD_INPUT
    assert "--pass and --every both choose passes" in capfd.readouterr().err


# Ranks


@pytest.fixture
def rank(monkeypatch):
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")


def test_a_rank_writes_a_file_with_its_number_and_runs_to_its_end(script, rank, capfd):
    assert main(["record", script]) == Exit.OK
    out, error = capfd.readouterr()
    assert out == "the end\n"
    assert error.startswith("microtape: train.rank1.tape is written; rank 1 goes on unrecorded\n")
    recording = load("train.rank1.tape")
    assert len(recording.passes) == 1
    assert recording.notes == ("the program went on after the passes that are kept; --pass all records it to its end",)


def test_a_rank_that_is_not_chosen_runs_plainly(script, rank, capfd):
    assert main(["record", script, "--rank", "0,3", "--", "x"]) == 4
    assert capfd.readouterr() == ("the end x\n", "")
    assert not [one for one in os.listdir() if one.endswith(".tape")]


def test_a_chosen_rank_is_recorded(script, rank):
    assert main(["record", script, "--rank", "0,1", "-o", "run.tape"]) == Exit.OK
    assert load("run.rank1.tape").options["rank"] == 1


@pytest.mark.parametrize("text", ["x", "0,", "-1"])
def test_ranks_are_numbers(script, text, capfd):
    assert main(["record", script, f"--rank={text}"]) == Exit.BAD_INPUT
    assert "is not a list of ranks, such as 0 or 0,3" in capfd.readouterr().err


def test_a_rank_needs_several_processes(script, capfd):
    assert main(["record", script, "--rank", "0"]) == Exit.BAD_INPUT
    assert "which torchrun starts: here is only one" in capfd.readouterr().err
