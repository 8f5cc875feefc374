"""What takes more than half a second says so on a terminal, and nowhere else."""

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from microtape import load, save
from tests.support.recordings import handmade
from tui.commands.cli import main
from tui.shell import progress
from tui.shell.exits import Exit
from tui.shell.progress import ProgressBar, counted_lines, status_line

ROOT = Path(__file__).parents[3]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def on_a_terminal(monkeypatch):
    """Standard error is a terminal, and nobody is patient. Not a fixture: pytest puts its own in after those."""
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    return sys.stderr


def wait_for(text, stream):
    end = time.monotonic() + 10
    while text not in stream.getvalue():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_slow_work_shows_a_status_line_and_erases_it(monkeypatch):
    terminal = on_a_terminal(monkeypatch)
    with status_line("loading run.tape ..."):
        wait_for("loading run.tape", terminal)
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_beside_a_program_that_prints_it_is_a_line_of_its_own(monkeypatch):
    terminal = on_a_terminal(monkeypatch)
    with status_line("recording train.py ...", stays=True):
        wait_for("recording train.py ...\n", terminal)
    assert "\x1b" not in terminal.getvalue()


def test_quick_work_shows_no_status_line(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with status_line("loading"):
        pass
    assert sys.stderr.getvalue() == ""


def test_without_a_terminal_there_is_nothing(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with status_line("loading"), ProgressBar() as bar:
        bar.show(0.5, "1 of 2")
        time.sleep(0.05)
    assert sys.stderr.getvalue() == ""


def test_a_bar_says_how_far_and_how_to_stop(monkeypatch):
    terminal = on_a_terminal(monkeypatch)
    with ProgressBar() as bar:
        bar.show(0.5, "1 of 2")
        assert "[############............] 1 of 2   Ctrl-C stops" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")


def slowly(terminal):
    wait_for("computing", terminal)
    yield from ("one", "two", "three")


def test_lines_that_go_elsewhere_are_counted_on_the_terminal(monkeypatch):
    terminal = on_a_terminal(monkeypatch)
    monkeypatch.setattr(progress, "REPORT_EVERY", 1)
    assert list(counted_lines(slowly(terminal))) == ["one", "two", "three"]
    assert "2 lines ...   Ctrl-C stops" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_lines_on_the_terminal_are_not_mixed_with_their_count(monkeypatch):
    terminal = on_a_terminal(monkeypatch)
    monkeypatch.setattr(progress, "REPORT_EVERY", 1)
    monkeypatch.setattr(sys, "stdout", Terminal())
    coming = counted_lines(slowly(terminal))
    assert next(coming) == "one"
    told = terminal.getvalue()
    assert told.endswith("\r\x1b[K")
    assert list(coming) == ["two", "three"]
    assert terminal.getvalue() == told


def test_commands_tell(tmp_path, monkeypatch):
    terminal = on_a_terminal(monkeypatch)
    monkeypatch.setattr("tui.shell.opening.load_all", lambda path: time.sleep(0.2) or load(path))
    save(handmade.diamond(), tmp_path / "run.tape")
    assert main(["trace", str(tmp_path / "run.tape")]) == Exit.OK
    assert "loading" in terminal.getvalue()


ENDLESS = """\
import microtape as mt
x = mt.tensor(2.0, requires_grad=True)
(x * x).backward()
print("ready", flush=True)
while True:
    pass
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are others there")
def test_ctrl_c_while_recording_keeps_what_there_is(tmp_path):
    (tmp_path / "endless.py").write_text(ENDLESS)
    command = [sys.executable, "-m", "microtape", "record", "endless.py", "--pass", "all"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, start_new_session=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # fmt: skip
        assert process.stdout.readline() == "ready\n"
        os.killpg(process.pid, signal.SIGINT)
        try:
            said = process.communicate(timeout=120)[1]
        finally:
            process.kill()
    assert process.returncode == Exit.INTERRUPTED
    assert "endless.py was interrupted: what was recorded until then is kept" in said
    assert len(load(tmp_path / "endless.tape").passes) == 1


def test_every_command_documents_its_exit_codes(capsys):
    for command in ("step", "trace", "record", "draw", "film", "demo", "learn"):
        assert main([command, "--help"]) == Exit.OK
        assert "130  Ctrl-C" in capsys.readouterr().out
