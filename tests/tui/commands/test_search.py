"""`--search` and `--pass` on the command line: what is recorded, and what is said when it does not come to that."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.support.rendering import needs_graphviz
from tests.tui.stepper.test_launch import in_a_terminal
from tui.commands.cli import main
from tui.shell.exits import Exit

FAILS = """\
import microtape as mt
w = mt.tensor([1.0, 2.0], requires_grad=True)
for number in range(1, 9):
    w.grad = None
    hidden = w.exp()
    if number == 4:
        hidden += 1
    loss = hidden.sum()
    loss.backward()
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(FAILS)
    return "train.py"


def passes(out):
    return [one["index"] + 1 for one in json.loads(out)["passes"]]


def test_the_trace_stops_after_the_first_pass_unless_it_is_asked_to_search(script, capfd):
    assert main(["trace", script, "--json"]) == Exit.OK
    assert passes(capfd.readouterr().out) == [1]
    assert main(["trace", script, "--json", "--search", "600"]) == Exit.SCRIPT_FAILED
    assert passes(capfd.readouterr().out) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "command",
    [["draw", "-o", "graph.dot"], pytest.param(["film", "-o", "run.html"], marks=needs_graphviz), ["record"]],
)
def test_other_commands_search_as_well(script, command):
    assert main([*command, script]) == Exit.OK
    assert main([*command, script, "--search", "600"]) == Exit.SCRIPT_FAILED


@pytest.mark.parametrize("other", [["--pass", "2"], ["--until", "nan"], ["--passes"]])
def test_a_search_that_contradicts_another_option_is_refused(script, other, capfd):
    assert main(["trace", script, "--search", "5", *other]) == Exit.BAD_INPUT
    message = "--search looks beyond the first pass: give it without options that choose passes"
    assert capfd.readouterr().err == f"microtape: {message}\n"


def test_no_search_contradicts_nothing(script, capfd):
    assert main(["trace", script, "--search", "0", "--pass", "2", "--json"]) == Exit.OK
    assert passes(capfd.readouterr().out) == [2]


@pytest.mark.parametrize("seconds", ["-1", "soon", "inf", "nan"])
def test_what_is_no_number_of_seconds_is_refused(script, seconds, capfd):
    assert main(["trace", script, f"--search={seconds}"]) == Exit.BAD_INPUT
    assert f"{seconds!r} is not a number of seconds" in capfd.readouterr().err


def test_a_pass_that_a_failure_prevents_is_explained_by_the_failure(script, capfd):
    assert main(["trace", script, "--pass", "7", "--json"]) == Exit.SCRIPT_FAILED
    out, errors = capfd.readouterr()
    assert passes(out) == [4]
    assert errors.count("Traceback") == 1
    assert "\nmicrotape: train.py raised ModifiedInPlaceError in pass 4: there is no pass 7\n" in errors


def test_a_pass_that_a_failure_between_two_passes_prevents(script, capfd):
    Path(script).write_text(FAILS.replace("        hidden += 1\n", "        raise ValueError('no data')\n"))
    assert main(["trace", script, "--pass", "7", "--json"]) == Exit.SCRIPT_FAILED
    out, errors = capfd.readouterr()
    assert json.loads(out)["error"]["message"] == "no data"
    assert errors.endswith("microtape: train.py raised ValueError after pass 3: there is no pass 7\n")


def test_a_range_of_passes_of_which_one_fails(script, capfd):
    assert main(["trace", script, "--pass", "3-5", "--json"]) == Exit.SCRIPT_FAILED
    out, _ = capfd.readouterr()
    assert passes(out) == [3, 4]


def test_a_failure_that_the_script_survives_is_not_shown_instead(script, capfd):
    survives = "    try:\n        loss.backward()\n    except RuntimeError:\n        pass\n"
    Path(script).write_text(FAILS.replace("    loss.backward()\n", survives))
    assert main(["trace", script, "--pass", "7", "--json"]) == Exit.OK
    assert passes(capfd.readouterr().out) == [7]


ENDLESS = """\
import os, time
import microtape as mt
open(__file__ + ".pid", "w").write(str(os.getpid()))
w = mt.tensor([1.0, 2.0], requires_grad=True)
print("seen")
try:
    while True:
        (w * w).sum().backward()
        w.grad = None
        print("\\x1b[31mun" + "seen\\x1b[0m")
        time.sleep(0.02)
finally:
    print("the finally block")
"""


@pytest.mark.sampled(2)
@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
@pytest.mark.parametrize("ending", ["", "time.sleep(1e6)\n"])
def test_in_a_terminal_the_script_goes_on_and_ends_with_the_stepper(tmp_path, ending):
    script = tmp_path / "train.py"
    script.write_text(ENDLESS if not ending else ENDLESS.replace("while True", "for _ in range(3)") + ending)
    command = [sys.executable, "-m", "microtape", "step", str(script), "--search", "600"]
    screen, status = in_a_terminal(command, "step 0 of", b"q")
    assert status == 0
    with pytest.raises(ProcessLookupError):
        os.kill(int(Path(f"{script}.pid").read_text()), 0)
    before, after = screen.split("\x1b[?1049h")[0], screen.split("\x1b[?1049l")[-1]
    assert "seen" in before
    assert "unseen" not in screen[: screen.rindex("\x1b[?1049l")]
    assert "meanwhile" in after
    assert "the finally block" in after
