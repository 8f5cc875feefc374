"""However a program ends, the passes that had ended are kept. `tests/kills` kills at random moments."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

import microtape as mt
from microtape.recording.file.tape_file import load
from microtape.recording.script.run import record_script
from microtape.recording.script.running import RunningScript

ROOT = str(Path(mt.__file__).parent.parent)
THREE = """\
    import ctypes, os, signal, sys, time
    import microtape as mt

    w = mt.tensor([1.0, 2.0], requires_grad=True)
    for number in range(3):
        (w * w).sum().backward()
    {}
"""
KEPT = "the 3 passes that had ended are kept"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("end", "code", "message"),
    [
        ("os.kill(os.getpid(), signal.SIGTERM)", 143, f"train.py was killed by SIGTERM: {KEPT}"),
        ("os.kill(os.getpid(), signal.SIGKILL)", 137, f"train.py was killed by SIGKILL: {KEPT}"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", 139, f"train.py was killed by SIGSEGV: {KEPT}"),
        ("os._exit(0)", 0, f"train.py ended its process with status 0: {KEPT}"),
        ("os._exit(5)", 5, f"train.py ended its process with status 5: {KEPT}"),
    ],
)
def test_three_passes_are_kept(end: str, code: int, message: str) -> None:
    Path("train.py").write_text(textwrap.dedent(THREE.format(end)))
    ended = record_script("train.py", out="run.tape", passes="all")
    assert ended[:3] == ("run.tape", code, message)
    recording = load("run.tape")
    assert [one.index for one in recording.passes] == [0, 1, 2]
    assert recording.notes[-1] == "the program was ended before its end: only the passes that had ended are recorded"
    assert recording.options["passes"] == "all"
    assert sorted(os.listdir()) == ["run.tape", "train.py"]


def test_after_a_time_that_was_asked_for() -> None:
    def end_soon(running: RunningScript) -> None:
        while not Path("ready").exists():
            time.sleep(0.02)
        running.time_out()

    Path("train.py").write_text(textwrap.dedent(THREE.format("open('ready', 'w'); time.sleep(1000)")))

    def started(running: RunningScript) -> None:
        return threading.Thread(target=end_soon, args=[running]).start()

    ended = record_script("train.py", out="run.tape", passes="all", timeout=1000, started=started)
    assert ended[:3] == ("run.tape", 124, f"train.py was ended after 1000 seconds: {KEPT}")


def test_a_time_in_which_nothing_happened() -> None:
    Path("train.py").write_text("import time; time.sleep(1000)")
    ended = record_script("train.py", out="run.tape", timeout=0.5)
    assert ended[:3] == (None, 124, "train.py was ended after 0.5 seconds: nothing was recorded")
    ended = record_script("train.py", out="run.tape", timeout=0.5, search=60)
    assert ended[:3] == (None, 124, "train.py was ended after 0.5 seconds: nothing was recorded")


def test_a_search_keeps_the_last_pass() -> None:
    Path("train.py").write_text(textwrap.dedent(THREE.format("os._exit(5)")))
    ended = record_script("train.py", out="run.tape", until="nan")
    assert ended[:3] == ("run.tape", 5, "train.py ended its process with status 5: the pass that had ended is kept")
    assert [one.index for one in load("run.tape").passes] == [2]


def test_a_course_is_kept() -> None:
    Path("train.py").write_text(textwrap.dedent(THREE.format("os._exit(5)")))
    ended = record_script("train.py", out="run.tape", every=1)
    assert ended[:3] == ("run.tape", 5, "train.py ended its process with status 5: the course of 2 passes is kept")
    assert [one.pass_ for one in load("run.tape").courses] == [0, 1], "the third has no update yet"


def test_when_the_recorder_is_killed_the_program_writes_what_it_has_and_ends() -> None:
    text = """\
        import os, signal
        import microtape as mt

        w = mt.tensor([1.0, 2.0], requires_grad=True)
        for number in range(10**9):
            (w * w).sum().backward()
            if number == 1:
                parent = os.getppid()
                os.kill(parent, signal.SIGKILL)
                while os.getppid() == parent:
                    pass
    """
    Path("train.py").write_text(textwrap.dedent(text))
    recorder = subprocess.Popen(
        [sys.executable, "-m", "microtape", "record", "--pass", "all", "train.py"],
        env={**os.environ, "PYTHONPATH": ROOT}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    recorder.communicate(timeout=120)  # the program has the pipe, too, so this waits for its end
    assert recorder.returncode == -signal.SIGKILL
    assert sorted(os.listdir()) == ["train.py", "train.tape"]
    assert [one.index for one in load("train.tape").passes] == [0, 1, 2]
