"""The process that waits for a script while the command is imported."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from microtape import load
from microtape.recording.script.run import record_script
from tui.commands.cli import main
from tui.shell import opening
from tui.shell.early_start import early_start, take_started
from tui.shell.exits import Exit

pytestmark = pytest.mark.skipif(os.name != "posix", reason="elsewhere, scripts start late")

SCRIPT = """\
import sys, signal
import microtape as mt
x = mt.tensor(3.0, requires_grad=True)
print(sys.argv, sys.path[0], signal.getsignal(signal.SIGINT) is signal.default_int_handler)
(x * x).backward()
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(SCRIPT)
    return "a.py"


def test_a_script_sees_the_same_in_a_process_that_waited(script, capfd):
    assert record_script(script, ["b", "--c"], out="late.tape").exit_code == 0
    late = capfd.readouterr().out
    with early_start(script):
        started = take_started()
        assert record_script(script, ["b", "--c"], out="early.tape", waiting=started).exit_code == 0
    assert capfd.readouterr().out == late
    assert started[0].returncode == 0
    assert load("early.tape").passes[0].steps == load("late.tape").passes[0].steps


@pytest.mark.parametrize("command", ["step", "trace", "diagnose"])
def test_a_command_takes_the_process(script, command, monkeypatch, capfd):
    taken = []
    monkeypatch.setattr(opening, "take_started", lambda: taken.append(take_started()) or taken[-1])
    assert main([command, script]) == Exit.OK
    assert taken[0] is not None
    assert "a.py" in capfd.readouterr().err  # with --json, say, only our data are on standard output


def test_nothing_is_left_of_a_process_that_nobody_takes(script, capfd):
    with early_start(script):
        started, pipe = take_started()
        assert take_started() is None
        pipe.close()
        assert started.wait() == 0
    Path("zero.py").write_bytes(b"\0")
    assert main(["trace", "zero.py"]) == Exit.BAD_INPUT
    assert main(["trace", script, "--pass", "1", "--until", "nan"]) == Exit.BAD_INPUT
    assert take_started() is None
    assert capfd.readouterr().err.count("\n") == 2


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="Linux tells what a process has loaded")
def test_ctrl_c_ends_a_waiting_process_silently(script, capfd):
    with early_start(script):
        started, pipe = take_started()
        while "numpy" not in Path(f"/proc/{started.pid}/maps").read_text():
            time.sleep(0.01)
        started.send_signal(signal.SIGINT)
        assert started.wait() == -signal.SIGINT
        pipe.close()
    assert capfd.readouterr().err == ""


def test_a_process_that_has_ended_is_replaced(script, capfd):
    with early_start(script):
        started, pipe = take_started()
        started.kill()
        started.wait()
        assert record_script(script, out="a.tape", waiting=(started, pipe)).exit_code == 0
    assert len(load("a.tape").passes) == 1


@pytest.mark.parametrize("file", ["run.tape", "missing.py", "folder.py"])
def test_only_a_script_starts_a_process(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "run.tape").touch()
    with early_start(file):
        assert take_started() is None


@pytest.mark.parametrize("words", [["a.py"], ["-m", "a"]], ids=["early", "late"])
def test_a_script_runs_under_the_options_that_python_was_given(script, words):
    Path(script).write_text(SCRIPT.replace("print(", "print(sys.warnoptions, sys.flags.optimize, "))
    root = str(Path(__file__).parents[3])
    command = [sys.executable, "-W", "error", "-O", "-m", "microtape", "record", "-o", "x.tape", *words]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": root}, capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.startswith("['error'] 1 ")
