"""The recordings of several processes on the command line: `diagnose`, `trace` and `step` take all of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import microtape
from microtape import load, save
from tests.support.recordings import handmade
from tests.support.recordings.ranks import Model, trained
from tui.beside.rank_diagnosis import pattern_of
from tui.commands.cli import main
from tui.shell.exits import Exit

TRAIN = """\
import os
import sys
import microtape as mt

rank, count = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
mt.manual_seed(rank if "unseeded" in sys.argv else 0)
W = mt.randn(3, requires_grad=True)
for step in range(3):
    data = [mt.tensor([one + 1.0, 1.0, step + 1.0]) for one in range(count)]
    loss = (W * data[rank]).sum()
    loss.backward()
    W.grad = sum(data) / count  # as all_reduce would leave it: of this loss, the data are the gradient
    with mt.no_grad():
        W -= 0.1 * W.grad
        W.grad = None
"""

STARTED = """\
import multiprocessing as mp
import sys
import microtape as mt


def train(rank):
    w = mt.tensor([1.0, 2.0], requires_grad=True)
    for step in range(3):
        loss = (w * w).sum() / (1 - rank * ("apart" in sys.argv))
        loss.backward()
        w.grad = None


if __name__ == "__main__":
    workers = [mp.get_context("spawn").Process(target=train, args=(rank,)) for rank in range(2)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
"""  # each process records itself


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")
    return tmp_path


def saved(count: int = 2, **options: object) -> list[str]:
    files = []
    for rank, recording in enumerate(trained(count, **options)):  # type: ignore[arg-type]
        files.append(f"train.rank{rank}.tape")
        save(recording, files[-1])
    return files


def run(*arguments: str, capfd: pytest.CaptureFixture[str]) -> tuple[int, list[str], str]:
    code = main([*arguments])
    printed = capfd.readouterr()
    return code, printed.out.splitlines(), printed.err


def test_diagnose_says_where_the_ranks_part(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    files = saved(4, model=lambda rank: Model(b=0.5 + (rank == 2)))
    code, lines, _ = run("diagnose", *files, capfd=capfd)
    assert code == Exit.FOUND
    assert lines[0].endswith("rank 2 differs in own.b before pass 1")
    assert "    own.b is 0.5 on rank 0, 1.5 on rank 2, relative 0.67." in lines
    assert "    $ microtape step train.rank*.tape" in lines
    assert lines[-1] == "train.rank*.tape: 1 finding in 3 passes of ranks 0-3; 1 parameter is equal on all of them"


def test_a_pattern_stands_for_all_files(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    saved(4)
    code, lines, _ = run("diagnose", "train.rank*.tape", capfd=capfd)
    equal = "train.rank*.tape: nothing wrong was found in 3 passes of ranks 0-3; 2 parameters are equal on all of them"
    assert (code, lines) == (Exit.OK, [equal])
    assert run("diagnose", "eval.*.tape", capfd=capfd)[0] == Exit.BAD_INPUT


def test_a_finding_of_one_rank_leads_to_its_file(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    saved(3, data=lambda rank, step: [float("nan") if rank == 1 else 1.0, 2.0, 3.0])
    code, lines, _ = run("diagnose", "train.rank*.tape", capfd=capfd)
    assert code == Exit.FOUND
    assert "rank 1: NaN begins at mul" in lines[0]
    assert "    $ microtape step train.rank1.tape" in lines
    assert any("only rank 1 has NaN or infinity in pass 1" in line for line in lines)


def test_ranks_without_a_file_are_named(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    files = saved(4)
    _, lines, _ = run("diagnose", files[0], files[2], capfd=capfd)
    assert lines[-1].endswith("(of ranks 1 and 3 there is no recording here)")


def test_json(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    files = saved(2, averages="never")
    code, lines, _ = run("diagnose", *files, "--json", capfd=capfd)
    told = json.loads(lines[0])
    assert code == Exit.FOUND
    assert (told["files"], told["ranks"]) == (files, [0, 1])
    assert [(one["kind"], one["ranks"], one["pass"]) for one in told["findings"]] == [("other parameters", [1], 2)]


def test_trace_prints_the_same_of_each_rank(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    saved(2)
    code, lines, _ = run("trace", "train.rank*.tape", "--pass", "2", "--step", "1", "--ascii", capfd=capfd)
    assert code == Exit.OK
    headings = [at for at, line in enumerate(lines) if line.startswith("== rank")]
    assert [lines[at] for at in headings] == ["== rank 0: train.rank0.tape ==", "== rank 1: train.rank1.tape =="]
    parts = lines[headings[0] + 1 : headings[1] - 1], lines[headings[1] + 1 :]
    assert parts[0][0] == parts[1][0]
    assert "Pass 2 of 3" in parts[0][0]
    assert parts[0] != parts[1]


def test_without_a_terminal_step_prints_the_traces(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    files = saved(2)
    code, lines, _ = run("step", *files, "--pass", "1", capfd=capfd)
    assert code == Exit.OK
    assert [line for line in lines if line.startswith("==")] == [
        "== rank 0: train.rank0.tape ==",
        "== rank 1: train.rank1.tape ==",
    ]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["draw", "a.tape", "b.tape", "-o", "x.svg"], "several recordings are for step, trace and diagnose"),
        (["film", "a.tape", "b.tape", "-o", "x.html"], "several recordings are for step, trace and diagnose"),
        (["trace", "a.tape", "b.tape", "--json"], "--json is for one recording: give one of a.tape, b.tape"),
        (["step", "a.tape", "b.tape", "--beside", "c.tape"], "--beside is for one recording: here are 2"),
        (["step", "a.tape", "b.tape", "--watch"], "--watch is for one recording: here are 2"),
        (["diagnose", "a.tape", "b.tape", "train.py"], "train.py is not a recording: after a.tape"),
        (["diagnose", "a.tape", "diamond.tape"], "ranks run the same program"),
        (["diagnose", "a.tape", "b.tape", "a.tape"], "a.tape and a.tape are both of rank 0"),
        (["diagnose", "a.tape", "missing.tape"], "missing.tape"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, list) else "",
)
def test_what_cannot_be_is_said_in_one_line(
    command: list[str], message: str, here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for recording, name in zip(trained(2), ("a.tape", "b.tape"), strict=True):
        save(recording, name)
    save(handmade.diamond(), "diamond.tape")
    Path("train.py").write_text("x = 1\n")
    code, _, said = run(*command, capfd=capfd)
    assert code == Exit.BAD_INPUT
    assert message in said
    assert len(said.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("files", "pattern"),
    [
        ("run/train.rank0.tape run/train.rank11.tape", "run/train.rank*.tape"),
        ("run.0.tape run.1.tape run.2.tape", "run.*.tape"),
        ("a.tape b.tape", None),
        ("a.rank0.tape b.rank1.tape", None),
        ("rank0.tape rank1.rank.tape", None),
        ("a;rank0.tape a;rank1.tape", None),
        ("a*rank0.tape a*rank1.tape", None),
    ],
)
def test_a_pattern_for_many_files(files: str, pattern: str | None, here: Path) -> None:
    (here / "run").mkdir()
    for file in files.split():
        (here / file).touch()
    assert pattern_of(files.split()) == pattern


def test_no_pattern_takes_files_that_were_not_given(here: Path) -> None:
    for rank in range(3):
        (here / f"run.{rank}.tape").touch()
    assert pattern_of(["run.0.tape", "run.1.tape"]) is None


@pytest.fixture
def processes(here: Path) -> object:
    """Runs the program as several processes at once, each of which records itself."""
    (here / "train.py").write_text(TRAIN)
    root = str(Path(microtape.__file__).parent.parent)

    def start(count: int, *words: str) -> None:
        running = [
            subprocess.Popen(
                [sys.executable, "-m", "microtape", "record", "train.py", "--pass", "all", *words],
                env={**os.environ, "PYTHONPATH": root, "RANK": str(rank), "WORLD_SIZE": str(count)},
                stderr=subprocess.PIPE,
            )
            for rank in range(count)
        ]
        for one in running:
            _, said = one.communicate(timeout=120)
            assert one.returncode == 0, said

    return start


def test_several_processes_on_numpy(processes: object, here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    processes(4)  # type: ignore[operator]
    assert [load(f"train.rank{rank}.tape").options["ranks"] for rank in range(4)] == [4] * 4
    code, lines, _ = run("diagnose", "train.rank*.tape", capfd=capfd)
    assert code == Exit.OK
    assert lines[-1].endswith("in 3 passes of ranks 0-3; 1 parameter is equal on all of them")


def test_a_rank_that_was_seeded_otherwise_on_numpy(
    processes: object, here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    processes(2, "--", "unseeded")  # type: ignore[operator]
    code, lines, _ = run("diagnose", "train.rank*.tape", capfd=capfd)
    assert code == Exit.FOUND
    assert lines[0].endswith("rank 1 differs in W before pass 1")
    assert lines[1] == "    train.py:7:  W = mt.randn(3, requires_grad=True)"
    assert "Seed all ranks alike" in "".join(lines)


def test_trace_compares_a_pass_of_each_rank_with_that_of_the_lowest(here, capfd):
    code, lines, _ = run("trace", *saved(3), "--compare", "2", capfd=capfd)
    assert code == Exit.OK
    headings = [one.split("  ")[0] for one in lines if one.startswith("rank ")]
    assert headings == ["rank 0, pass 2", "rank 1, pass 2", "rank 0, pass 2", "rank 2, pass 2"]
    assert sum("own.b" in one and one.endswith("same") for one in lines) == 2
    assert not any("only in" in one for one in lines)


def test_one_pass_is_compared_only_between_ranks_that_have_it(here, capfd):
    files = saved(2)
    assert "pass 9 is not in the recordings of two ranks" in run("trace", *files, "--compare", "9", capfd=capfd)[2]
    assert "give the numbers of two passes" in run("trace", files[0], "--compare", "2", capfd=capfd)[2]


@pytest.fixture
def started(here: Path) -> Path:
    """A script that starts two processes, in each of which it trains."""
    (here / "start.py").write_text(STARTED)
    return here


def test_record_writes_a_file_for_each_process_that_a_script_starts(
    started: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, _, said = run("record", "start.py", "--pass", "all", capfd=capfd)
    assert code == Exit.OK
    assert [one.split(",")[0] for one in said.splitlines()] == [
        "microtape: start.rank0.tape: 3 passes", "microtape: start.rank1.tape: 3 passes"
    ]  # fmt: skip
    code, lines, _ = run("diagnose", "start.rank*.tape", capfd=capfd)
    assert lines[-1].startswith("start.rank*.tape: nothing wrong was found in 3 passes of ranks 0 and 1")


def test_diagnose_takes_a_script_that_starts_processes(started: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, lines, _ = run("diagnose", "start.py", capfd=capfd)
    assert (code, len(lines)) == (Exit.OK, 1)
    assert lines[0].startswith("start.py: nothing wrong was found in 3 passes of ranks 0 and 1")
    code, lines, _ = run("diagnose", "start.py", "--json", "--", "apart", capfd=capfd)
    told = json.loads(lines[0])
    assert code == Exit.FOUND
    assert (told["files"], told["ranks"]) == (["start.py"], [0, 1])
    assert [(one["ranks"], one["command"]) for one in told["findings"] if one["severity"] == "error"] == [
        ([1], "microtape step start.py -- apart")
    ]


def test_trace_and_step_print_each_process_that_a_script_starts(
    started: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for command in ("trace", "step"):
        code, lines, _ = run(command, "start.py", capfd=capfd)
        assert code == Exit.OK
        assert [one for one in lines if one.startswith("==")] == ["== rank 0: start.py ==", "== rank 1: start.py =="]


def test_what_shows_one_recording_shows_the_first_process(started: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, _, said = run("diff", "start.py", "start.py", capfd=capfd)
    assert code == Exit.OK
    assert "start.py ran in 2 processes, of which this is the first; `microtape record` keeps all" in said
    code, _, said = run("trace", "start.py", "--json", capfd=capfd)
    assert code == Exit.BAD_INPUT
    assert "--json is for one recording: give one of those that `microtape record start.py` writes" in said
