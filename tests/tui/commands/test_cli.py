"""The command line: what it prints where, and its exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from microtape import save
from microtape.recording.script.ending import ScriptRun
from tests.support.recordings import handmade
from tests.support.rendering import needs_graphviz
from tui.commands.cli import main
from tui.shell import opening
from tui.shell.exits import MEANING, Exit

ROOT = Path(__file__).parents[3]
START = [sys.executable, "-c", "import sys; from tui.commands.cli import main; sys.exit(main())"]

GOOD = """\
import sys
import microtape as mt
x = mt.tensor(3.0, requires_grad=True)
y = x * x
print("arguments", sys.argv[1:])
y.backward()
(x * 2).backward()
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def tape(here):
    save(handmade.diamond(), "run.tape")
    return "run.tape"


@pytest.fixture
def script(here):
    (here / "good.py").write_text(GOOD)
    return "good.py"


def write(here, text):
    (here / "script.py").write_text("import microtape as mt\n" + text)
    return "script.py"


def test_help_names_every_command_and_where_the_exit_codes_are(capfd):
    assert main(["--help"]) == Exit.OK
    out = capfd.readouterr().out
    assert all(word in out for word in ("step", "trace", "record", "draw", "demo"))
    assert out.rstrip().endswith("`microtape COMMAND --help` lists the options of a command, and the exit codes.")
    assert main(["step", "--help"]) == Exit.OK
    out = capfd.readouterr().out
    assert all(f"{code.value}" in out and meaning in out for code, meaning in MEANING.items())
    assert "  n     the script itself exited with status n, as sys.exit(n) does; a line says so" in out


def test_help_imports_nothing_heavy():
    loaded = "import sys; from tui.commands.cli import main; main(['--help']); "
    loaded += "print('!', {'numpy', 'textual'} & set(sys.modules))"
    output = subprocess.run([sys.executable, "-c", loaded], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert output.splitlines()[-1] == "! set()"


@pytest.mark.parametrize(
    ("module", "unneeded"),
    [
        ("tui.commands.trace", "textual viz.drawing lessons.checking.verdict microtape.recording.engines"),
        ("tui.commands.trace", "tui.words.trace_json tui.time.box_picture microtape.recording.ranks"),
        ("tui.learn.cli", "textual viz.drawing"),
        ("tui.stepper.app", "viz.drawing viz.films lessons.checking.verdict microtape.recording.engines"),
        ("microtape.recording.script.child", "tempfile importlib.abc microtape.recording.findings.find"),
    ],
)
def test_what_every_run_pays_for_is_imported_alone(module, unneeded):
    loaded = f"import sys; before = set(sys.modules); import {module}; "
    loaded += f"print(*set({unneeded.split()}) & sys.modules.keys() - before)"
    output = subprocess.run([sys.executable, "-c", loaded], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert output.split() == []


def test_version(capfd):
    assert main(["--version"]) == Exit.OK
    assert capfd.readouterr().out.startswith("microtape 0.")


def test_without_a_command_it_helps(capfd):
    assert main([]) == Exit.OK
    assert "usage: microtape" in capfd.readouterr().out


def test_trace_of_a_recording(tape, capfd):
    assert main(["trace", tape]) == Exit.OK
    out, err = capfd.readouterr()
    assert "Step 5 of 5" in out
    assert err == ""


def test_trace_of_a_script_keeps_its_output_out_of_the_data(script, capfd):
    assert main(["trace", script, "--json", "--", "--json", "a"]) == Exit.OK
    out, err = capfd.readouterr()
    assert json.loads(out)["title"] == "good.py"
    assert "arguments ['--json', 'a']" in err


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        (["--", "--json", "a"], ["--json", "a"]),
        (["a", "--", "--json"], ["a", "--json"]),
        (["--", "a", "--", "b"], ["a", "--", "b"]),
        (["--step", "1", "--", "--step", "2"], ["--step", "2"]),
        (["--"], []),
    ],
)
def test_after_the_first_two_dashes_all_is_the_scripts(given, seen, script, capfd):
    assert main(["trace", script, *given]) == Exit.OK
    assert f"arguments {seen}" in capfd.readouterr().err


def test_options_may_follow_the_script_and_the_rest_is_its_own(script, capfd):
    assert main(["trace", script, "--epochs", "3", "--step", "1", "data.csv"]) == Exit.OK
    out, err = capfd.readouterr()
    assert "Step 1 of" in out
    assert "arguments ['--epochs', '3', 'data.csv']" in err


def test_step_without_a_terminal_prints_the_trace(tape, capfd):
    assert main(["step", tape]) == Exit.OK
    assert "Step 5 of 5" in capfd.readouterr().out


def test_one_step_as_text_and_as_json(tape, capfd):
    assert main(["trace", tape, "--step", "2"]) == Exit.OK
    assert "Step 2 of 5" in capfd.readouterr().out
    assert main(["trace", tape, "--step", "2", "--json"]) == Exit.OK
    assert json.loads(capfd.readouterr().out)["steps_done"] == 2


def test_a_pass_is_chosen_by_its_number(here, capfd):
    save(handmade.twice(), "twice.tape")
    assert main(["trace", "twice.tape", "--pass", "2"]) == Exit.OK
    out = capfd.readouterr().out
    assert "Pass 2 of 2" in out
    assert "Pass 1 of 2" not in out


def test_record_writes_a_file_that_opens(script, capfd):
    assert main(["record", script, "-o", "x.tape", "--pass", "all"]) == Exit.OK
    out, err = capfd.readouterr()
    assert "arguments []" in out
    assert err.startswith("microtape: x.tape: 2 passes, ")
    assert main(["trace", "x.tape", "--pass", "2", "--step", "0"]) == Exit.OK


def test_record_names_the_file_after_the_script(script, here):
    assert main(["record", script]) == Exit.OK
    assert (here / "good.tape").exists()


@pytest.mark.parametrize("picture", ["graph.dot", pytest.param("graph.svg", marks=needs_graphviz)])
def test_draw_writes_a_picture(tape, here, picture, capfd):
    assert main(["draw", tape, "-o", picture, "--step", "2"]) == Exit.OK
    assert (here / picture).stat().st_size > 100
    assert f"wrote {picture}" in capfd.readouterr().err


def test_a_script_that_fails_in_backward_is_shown_up_to_there(here, capfd):
    script = write(here, "x = mt.tensor([0.0], requires_grad=True)\ny = x.exp()\ny += 1\ny.sum().backward()\n")
    assert main(["trace", script]) == Exit.SCRIPT_FAILED
    out, err = capfd.readouterr()
    assert "the value that its derivative needs is gone" in out
    assert "Traceback" in err
    assert "tui" not in err, "the traceback is the script's alone"
    lesson = "Lesson 17 is about this: microtape learn in_place"
    assert f"  see      {lesson}\n" in out
    assert err.endswith(f"microtape: {lesson}\n")


@pytest.mark.sampled(5)
@pytest.mark.parametrize("command", ["step", "trace", "draw", "record"])
@pytest.mark.parametrize(
    ("text", "code", "word"),
    [
        ("1 / 0\n", Exit.SCRIPT_FAILED, "ZeroDivisionError"),
        ("def f(:\n", Exit.SCRIPT_FAILED, "SyntaxError"),
        ("print('hello')\n", Exit.NOTHING_RECORDED, "never called backward()"),
        ("raise SystemExit\n", Exit.NOTHING_RECORDED, "never called backward()"),
        ("raise SystemExit(7)\n", 7, "exited with status 7"),
    ],
)
def test_a_script_that_leaves_nothing_to_show(here, command, text, code, word, capfd):
    script = write(here, text)
    assert main([command, script, "-o", "out.dot"] if command == "draw" else [command, script]) == code
    assert word in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["step", "missing.py"], "missing.py: cannot be read"),
        (["trace", "missing.tape"], "missing.tape"),
        (["trace", "."], "a folder"),
        (["trace", "damaged.tape"], "damaged.tape"),
        (["trace", "run.tape", "--step", "6"], "--step takes 0 (before the first) to 5"),
        (["trace", "run.tape", "--step", "x"], "invalid int value"),
        (["trace", "run.tape", "--pass", "2"], "no pass 2 in this recording (it has: 1)"),
        (["trace", "run.tape", "--pass", "two"], "pass 'two'"),
        (["trace", "run.tape", "more"], "takes no arguments"),
        (["draw", "run.tape"], "needs -o"),
        (["demo", "nothing"], "choose from"),
        (["record", "run.tape"], "not a Python program"),
        (["fly"], "there is no command 'fly'"),
        (["trace"], "FILE"),
    ],
)
def test_bad_input_is_one_clear_line(tape, arguments, message, here, capfd):
    (here / "damaged.tape").write_bytes(b"PK\x03\x04 broken")
    assert main(arguments) == Exit.BAD_INPUT
    out, err = capfd.readouterr()
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_a_picture_of_no_known_kind_cannot_be_drawn(tape, capfd):
    assert main(["draw", tape, "-o", "graph.bmp"]) == Exit.CANNOT_DRAW
    assert "graph.bmp" in capfd.readouterr().err


def test_a_reader_that_stops_reading_ends_it_quietly(here):
    save(handmade.chain(3000), "long.tape")
    process = subprocess.Popen([*START, "trace", "long.tape"], cwd=here, env=environment(), stdout=-1, stderr=-1)
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=60) == Exit.BROKEN_PIPE
    assert process.stderr.read() == b""
    process.stderr.close()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    "command",
    ["trace good.tape", "trace good.tape --json", "diagnose good.tape", "diff good.tape good.tape", "keys", "--help",
     "--version", "trace --help", "learn list"],
)  # fmt: skip
def test_where_nothing_can_be_printed_one_line_says_so(command, here):
    save(handmade.chain(3), "good.tape")
    with open("/dev/full", "wb") as full:
        ended = subprocess.run([*START, *command.split()], cwd=here, env=environment(), stdout=full, stderr=-1)
    assert ended.stderr.decode() == "microtape: the output cannot be written: No space left on device\n"
    assert ended.returncode == Exit.BAD_INPUT


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_what_nobody_can_be_told_is_no_fault(here):
    with open("/dev/full", "wb") as full:
        ended = subprocess.run([*START, "trace", "none.tape"], cwd=here, env=environment(), stdout=-1, stderr=full)
    assert (ended.returncode, ended.stdout) == (Exit.BAD_INPUT, b"")


def test_a_timeout_reaches_the_program_and_has_an_exit_code(script, capfd, monkeypatch):
    def record_script(*args, timeout, **options):
        return ScriptRun(None, 124, f"good.py was ended after {timeout:g} seconds: nothing was recorded")

    monkeypatch.setattr(opening, "record_script", record_script)
    for command in (["trace"], ["diagnose"], ["draw", "-o", "a.txt"], ["record"]):
        assert main([command[0], script, *command[1:], "--timeout", "4"]) == Exit.TIMED_OUT
        assert capfd.readouterr().err.endswith("good.py was ended after 4 seconds: nothing was recorded\n")


def test_nor_does_the_course_complain_where_nobody_reads(here):
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run([*START, "learn", "list"], cwd=here, env=environment(), stdout=writer, stderr=-1)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (Exit.BROKEN_PIPE, b"")


def test_a_script_in_the_folder_cannot_stand_in_for_our_packages(here, capfd):
    (here / "viz.py").write_text("raise RuntimeError('mine')\n")
    script = write(here, "x = mt.tensor(1.0, requires_grad=True)\n(x * x).backward()\n")
    assert main(["trace", script]) == Exit.OK


def environment():
    import os

    return {**os.environ, "PYTHONPATH": str(ROOT)}


def test_watching_a_recording_is_refused(tape, capfd):
    assert main(["step", tape, "--watch"]) == Exit.BAD_INPUT
    assert "--watch takes a script: run.tape is a recording" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["trace", "x.py", "--step", "x"],
            "argument --step: invalid int value: 'x'; see `microtape trace --help`",
        ),
        (["film", "x.py", "--steps", "5"], "argument --steps: '5' is not a range of steps, such as 0:200; "),
        (["keys", "--bogus"], "unrecognized arguments: --bogus; see `microtape --help`"),
        (["frobnicate"], "there is no command 'frobnicate': the commands are step, diagnose, "),
        (["stpe", "x.py"], "there is no command 'stpe': did you mean `microtape step`?"),
    ],
)
def test_a_word_that_does_not_fit_is_one_line(words, said, capfd):
    assert main(words) == Exit.BAD_INPUT
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"microtape: {said}")
    assert err.count("\n") == 1


@pytest.mark.parametrize("file", ["none.py", "a folder/none.py", "run.tape", "program"])
def test_a_file_in_place_of_a_command_is_told_apart_from_a_slip(tape, file, here, capfd):
    (here / "program").write_text("")
    assert main([file, "--pass", "2"]) == Exit.BAD_INPUT
    quoted = f"'{file}'" if " " in file else file
    assert f"{file} is a file, not a command: to open the stepper on it, run `microtape step {quoted}`" in (
        capfd.readouterr().err
    )
