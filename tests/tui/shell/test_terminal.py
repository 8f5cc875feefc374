"""However the stepper ends, the terminal is as it was, and the place is remembered."""

import json
import os
import signal
import sys
import time

import pytest

import microtape as mt
from tests.support.pseudo_terminal import PATIENCE, PseudoTerminal, microtape, needs_terminal
from tests.support.recordings import handmade
from tui.shell.remembered import Remembered, SavedMoment, key_of

pytestmark = needs_terminal
ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGQUIT", "SIGINT") if hasattr(signal, name)]
RIGHT, CTRL_Z = "\x1b[C", "\x1a"

FAILS = """
import sys
from tui.commands.cli import main
from tui.{module} import {cls}
def fail(*_):
    raise ZeroDivisionError("on purpose")
{cls}.{method} = fail
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def tape(tmp_path):
    path = tmp_path / "diamond.tape"
    handmade.diamond().save(path)
    return path


def place(folder, tape):
    """The remembered place of a recording."""
    return Remembered.load(folder / "stepper.json").places.get(key_of(mt.load(tape)))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("number", ENDING)
def test_a_signal_leaves_the_terminal_whole_and_the_place_remembered(number, tape, tmp_path):
    with PseudoTerminal(microtape("step", str(tape)), MICROTAPE_DATA=str(tmp_path)) as terminal:
        terminal.wait_for("of 5")
        terminal.press(RIGHT + RIGHT)
        terminal.wait_for("step 2 of 5")
        assert not terminal.is_whole()
        assert terminal.end(number) == 128 + number
        assert terminal.is_whole()
        assert "Traceback" not in terminal.written
    assert place(tmp_path, tape) == SavedMoment(0, 5)


@pytest.mark.parametrize("errors", ["2>errors.txt", "2>&-"])
def test_where_errors_go_elsewhere_the_app_draws_on_the_terminal(errors, tape, tmp_path):
    command = [*microtape("step", str(tape))]
    shell = ["sh", "-c", f'cd "$0"; exec "$@" {errors}', str(tmp_path), *command]
    with PseudoTerminal(shell, MICROTAPE_DATA=str(tmp_path)) as terminal:
        terminal.wait_for("of 5")
        terminal.press("q")
        assert terminal.end() == 0
        assert terminal.is_whole()
    assert not (tmp_path / "errors.txt").exists() or (tmp_path / "errors.txt").read_text() == ""


@pytest.mark.slow
def test_a_signal_reaches_a_stepper_that_is_busy(tape, tmp_path):
    code = FAILS.replace(
        'raise ZeroDivisionError("on purpose")', "import time; print(file=sys.stderr); time.sleep(600)"
    )
    code = code.format(module="stepper.parts.movement", cls="Movement", method="home")
    with PseudoTerminal([sys.executable, "-c", code, "step", str(tape)], MICROTAPE_DATA=str(tmp_path)) as terminal:
        terminal.wait_for("of 5")
        terminal.press("\x1b[H")
        assert terminal.end(signal.SIGTERM) == 128 + signal.SIGTERM
        assert terminal.is_whole()


@pytest.mark.slow
def test_a_signal_ends_a_stepper_whose_terminal_takes_no_more(tape, tmp_path):
    with PseudoTerminal(microtape("step", str(tape)), MICROTAPE_DATA=str(tmp_path)) as terminal:
        terminal.wait_for("of 5")
        terminal.press(RIGHT)
        terminal.wait_for("step 1 of 5")
        for number in range(200):  # nobody reads what these repaint
            terminal.resize(200 + number % 2, 60)
            time.sleep(0.02)
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.process.wait(PATIENCE) == 128 + signal.SIGTERM
        while terminal.read(0.1):
            pass
        assert terminal.is_whole()
    assert place(tmp_path, tape) == SavedMoment(0, 4)


@pytest.mark.slow
def test_the_end_of_the_terminal_ends_a_stepper_that_ignores_signals(tape, tmp_path):
    code = "import signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); from tui.commands.cli import main; main()"
    with PseudoTerminal([sys.executable, "-c", code, "step", str(tape)], MICROTAPE_DATA=str(tmp_path)) as terminal:
        terminal.wait_for("of 5")
        terminal.press(RIGHT)
        terminal.wait_for("step 1 of 5")
        terminal.close()
        terminal.process.wait(PATIENCE)
    assert place(tmp_path, tape) == SavedMoment(0, 4)


@pytest.mark.slow
def test_two_signals_at_once_lose_no_place(tape, tmp_path):
    with PseudoTerminal(microtape("step", str(tape)), MICROTAPE_DATA=str(tmp_path)) as terminal:
        terminal.wait_for("of 5")
        terminal.press(RIGHT)
        terminal.wait_for("step 1 of 5")
        terminal.process.send_signal(signal.SIGHUP)
        assert terminal.end(signal.SIGTERM) in {128 + signal.SIGHUP, 128 + signal.SIGTERM}
        assert terminal.is_whole()
    assert place(tmp_path, tape) == SavedMoment(0, 4)


@pytest.mark.slow
def test_a_signal_ends_the_program_that_goes_on(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import os, time\nimport microtape as mt\nx = mt.tensor(3.0, requires_grad=True)\n"
        "open('number', 'w').write(str(os.getpid()))\n(x * x).backward()\ntime.sleep(600)\n"
    )
    command = ["sh", "-c", f"cd {tmp_path} && exec {sys.executable} -m microtape step script.py"]
    with PseudoTerminal(command, MICROTAPE_DATA=str(tmp_path)) as terminal:
        terminal.wait_for("of 2")
        assert terminal.end(signal.SIGTERM) == 128 + signal.SIGTERM
        assert terminal.is_whole()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "number").read_text()), 0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("command", ["-m microtape step", "-c 'import sys, tui; tui.step(sys.argv[1])'"])
def test_ctrl_z_gives_the_terminal_to_the_shell_and_fg_comes_back(command, tape, tmp_path):
    shell = ["bash", "--norc", "--noediting", "-i"]
    with PseudoTerminal(shell, MICROTAPE_DATA=str(tmp_path), PS1="ready> ") as terminal:
        terminal.wait_for("ready>")
        terminal.press(f"{sys.executable} {command} {tape}\n")
        terminal.wait_for("of 5")
        terminal.press(RIGHT)
        terminal.wait_for("step 1 of 5")
        terminal.press(CTRL_Z)
        terminal.wait_for("Stopped")
        terminal.wait_for("ready>")
        assert terminal.is_whole()
        terminal.press("echo $((40 + 2)) in between\n")
        terminal.wait_for("42 in between")
        terminal.press("fg\n")
        terminal.wait_for("step 1 of 5")
        terminal.press(RIGHT)
        terminal.wait_for("step 2 of 5")
        terminal.press("q")
        terminal.wait_for("ready>")
        terminal.press("exit\n")
        terminal.end()
        assert terminal.is_whole()


@pytest.mark.slow
def test_without_a_shell_ctrl_z_does_nothing(tape, tmp_path):
    with PseudoTerminal(microtape("step", str(tape)), MICROTAPE_DATA=str(tmp_path)) as terminal:
        terminal.wait_for("of 5")
        terminal.press(CTRL_Z)
        terminal.wait_for("There is no shell")
        terminal.press("q")
        assert terminal.end() == 0


@pytest.mark.slow
def test_bytes_that_are_no_utf_8_are_left_out(tape, tmp_path):
    with PseudoTerminal(microtape("step", str(tape)), MICROTAPE_DATA=str(tmp_path)) as terminal:
        terminal.wait_for("of 5")
        terminal.press("\udce9\udcff")
        terminal.wait_for("step 1 of 5", pressing=RIGHT)
        terminal.press("\udcff")
        terminal.wait_for("step 3 of 5", pressing=RIGHT)
        terminal.press("q")
        assert terminal.end() == 0


def test_an_end_that_nobody_asked_for_is_one_line_that_names_a_file(tape, tmp_path):
    code = FAILS.format(module="widgets.panes", cls="SentencePane", method="render_line")
    with PseudoTerminal([sys.executable, "-c", code, "step", str(tape)], MICROTAPE_DATA=str(tmp_path)) as terminal:
        assert terminal.end() == 1
        assert terminal.is_whole()
        last = terminal.written.rpartition("\x1b")[2].partition("l")[2].strip()
    assert last.startswith("microtape: the program had to end, because of a mistake in it. ")
    (report,) = [one for one in (tmp_path / "troubles").iterdir() if str(one) in last.replace("\r\n", "")]
    assert "on purpose" in report.read_text()
    assert json.loads((tmp_path / "stepper.json").read_text())["places"]
