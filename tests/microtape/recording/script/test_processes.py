"""The processes that a script starts are recorded, each for itself; the script is what it would be without us."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from microtape.recording.file.tape_file import load
from microtape.recording.model.model import Recording
from microtape.recording.script.ending import ScriptRun
from microtape.recording.script.run import record_script

Record = Callable[..., tuple[ScriptRun, list[Recording]]]

PROGRAM = """\
import multiprocessing as mp
import sys

import microtape as mt


def work(rank, passes):
    w = mt.tensor([1.0, 2.0 + rank], requires_grad=True)
    for _ in range(passes):
        w.grad = None
        loss = (w * w).sum()
        loss.backward()
    {end}


if __name__ == "__main__":
    context = mp.get_context("{method}")
    workers = [context.Process(target=work, args=(rank, {passes})) for rank in range(2)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    print("ended with", *[one.exitcode for one in workers], file=sys.stderr)
"""
METHODS = [one for one in ("spawn", "fork", "forkserver") if one == "spawn" or sys.platform == "linux"]


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """Write the text to script.py, record it, and load what its processes have written."""

    def record(text: str, **options: Any) -> tuple[ScriptRun, list[Recording]]:
        script = tmp_path / "script.py"
        script.write_text(text)
        ended = record_script(script, out=tmp_path / "run.tape", **options)
        assert not list(tmp_path.glob("*.journal"))
        assert sorted(map(str, tmp_path.glob("*.tape"))) == sorted(ended.files)
        return ended, [load(file) for file in ended.files]

    return record


def program(method: str = "spawn", passes: int = 3, end: str = "pass") -> str:
    return PROGRAM.format(method=method, passes=passes, end=end)


@pytest.mark.parametrize("method", METHODS)
def test_each_process_writes_a_recording(record: Record, tmp_path: Path, method: str) -> None:
    ended, recordings = record(program(method), passes="all")
    assert (ended.recording, ended.exit_code, ended.message) == (None, 0, None)
    assert ended.processes == (str(tmp_path / "run.rank0.tape"), str(tmp_path / "run.rank1.tape"))
    assert [[one.index for one in recording.passes] for recording in recordings] == [[0, 1, 2]] * 2
    assert [recording.options["rank"] for recording in recordings] == [0, 1]
    assert [recording.title for recording in recordings] == ["script.py"] * 2
    gradients = [recording.passes[0].steps[-1].grad_outputs[0] for recording in recordings]
    assert [one.tolist() for one in gradients] == [[2.0, 4.0], [2.0, 6.0]]


@pytest.mark.parametrize("method", METHODS)
def test_a_long_run_is_stopped_once_all_processes_have_what_was_asked_for(record: Record, method: str) -> None:
    began = time.monotonic()
    ended, recordings = record(program(method, passes=10**9), passes="2")
    assert time.monotonic() - began < 60
    assert (ended.exit_code, ended.message) == (0, None)
    assert [[one.index for one in recording.passes] for recording in recordings] == [[1], [1]]


def test_the_script_sees_the_processes_that_it_would_see_without_us(
    record: Record, capfd: pytest.CaptureFixture[str]
) -> None:
    end = "sys.stderr.write(f'{rank} {sys.path.count(__file__)} {len(sys.path)}\\n'); sys.exit(rank)"
    record(program(end=end).replace('if __name__ == "', 'LENGTH = len(sys.path)\nif __name__ == "'), passes="all")
    told = sorted(capfd.readouterr().err.splitlines())
    assert told[-1] == "ended with 0 1"
    assert told[0].split()[2] == told[1].split()[2]


def test_an_exception_in_a_process_is_in_its_recording_alone(record: Record, capfd: pytest.CaptureFixture[str]) -> None:
    ended, (first, second) = record(program(end="assert not rank, 'no good'"), passes="all")
    error = capfd.readouterr().err
    assert "AssertionError: no good" in error
    assert "recording/script" not in error
    assert first.error is None
    assert second.error is not None
    assert second.error.message == "no good"
    assert ended.exit_code == 0  # as of the script


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_the_passes_of_a_process_that_is_killed_are_kept(record: Record) -> None:
    end = f"import os; os.kill(os.getpid(), {signal.SIGKILL:d}) if rank else None"
    _, (first, second) = record(program(end=end), passes="all")
    assert [len(one.passes) for one in (first, second)] == [3, 3]
    assert any("ended before its end" in note for note in second.notes)


def test_a_process_without_a_pass_leaves_no_recording(record: Record) -> None:
    text = program().replace("for _ in range(passes)", "for _ in range(passes * rank)")
    ended, (only,) = record(text)
    assert [os.path.basename(file) for file in ended.processes] == ["run.rank1.tape"]
    assert only.options["rank"] == 1


@pytest.mark.parametrize("waits", [True, False])
def test_a_script_with_passes_of_its_own_is_recorded_alone(record: Record, waits: bool) -> None:
    join = "    for one in workers:\n        one.join()"
    text = program(passes=3 if waits else 10**9).replace(join, f"{join if waits else ''}\n    work(5, 1)")
    ended, (recording,) = record(text)
    assert ended.recording is not None
    assert ended.processes == ()
    assert "rank" not in recording.options


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="there is no /dev/null")
def test_what_is_no_file_is_not_removed(tmp_path: Path) -> None:
    script, out = tmp_path / "script.py", tmp_path / "nothing.tape"
    script.write_text(program() + "    mt.ones(1, requires_grad=True) * 2\n    raise SystemError\n")
    out.symlink_to("/dev/null")
    ended = record_script(script, out=out)
    assert len(ended.processes) == 2
    assert out.is_symlink()


def test_processes_of_pools_are_not_recorded(record: Record) -> None:
    text = program().split("    workers =")[0] + "    with context.Pool(1) as pool:\n        pool.map(abs, [1])\n"
    ended, recordings = record(text)
    assert recordings == []
    assert ended.message == "script.py never called backward(): there is nothing to record"


def test_a_search_goes_on_in_each_process(record: Record) -> None:
    ended, recordings = record(program(passes=40), search=20)
    assert ended.search is not None
    assert ended.search.passes == 40
    assert [[one.index for one in recording.passes] for recording in recordings] == [[0], [0]]
