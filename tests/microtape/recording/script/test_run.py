"""A script is recorded in a process of its own: unchanged, to the end of its first backward(), whatever it does."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import microtape
from microtape.errors import RecordingError
from microtape.recording.file.tape_file import load
from microtape.recording.model.model import Recording
from microtape.recording.script.ending import ScriptRun
from microtape.recording.script.run import record_script

Record = Callable[..., tuple[ScriptRun, Recording | None]]

ROOT = str(Path(microtape.__file__).parent.parent)
LOOP = """\
    import microtape as mt

    w = mt.tensor([1.0, 2.0], requires_grad=True)
    for number in range(1, 6):
        loss = (w * w).sum()
        print("forward", number)
        loss.backward()
    print("the end")
"""


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """Write the text to script.py, record it, and load what came of it."""

    def record(text: str, *args: str, **options: Any) -> tuple[ScriptRun, Recording | None]:
        script, out = tmp_path / "script.py", tmp_path / "run.tape"
        script.write_text(textwrap.dedent(text))
        out.unlink(missing_ok=True)
        ended = record_script(script, args, out=out, **options)
        assert ended.recording in (None, str(out))
        assert out.exists() == (ended.recording is not None)
        return ended, load(out) if ended.recording else None

    return record


def passes(recording: Recording | None) -> list[tuple[int, str]]:
    assert recording is not None
    return [(one.index + 1, one.kind) for one in recording.passes]


# Which passes


def test_a_script_is_recorded_to_the_end_of_its_first_backward_and_stopped(
    record: Record, capfd: pytest.CaptureFixture[str]
) -> None:
    ended, recording = record(LOOP)
    assert ended[1:3] == (0, None)
    assert passes(recording) == [(1, "backward")]
    assert capfd.readouterr() == ("forward 1\n", "")
    assert recording is not None
    assert recording.title == "script.py"
    assert recording.sources == {"script.py": textwrap.dedent(LOOP)}
    assert [tensor.name for tensor in recording.tensors] == ["w", "", "loss"]
    assert any("--pass all" in note for note in recording.notes)


def test_the_grad_calls_before_the_first_backward_are_there(record: Record) -> None:
    _, recording = record("""\
        import microtape as mt

        x = mt.tensor(2.0, requires_grad=True)
        (slope,) = mt.autograd.grad(x * x * x, x, create_graph=True)
        (curvature,) = mt.autograd.grad(slope, x, create_graph=True)
        (slope + curvature).backward()
        (x * x).backward()
    """)
    assert passes(recording) == [(1, "grad"), (2, "grad"), (3, "backward")]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("chosen", "recorded", "forwards"),
    [("1", [1], 1), ("2", [2], 2), ("3-4", [3, 4], 4), ("all", [1, 2, 3, 4, 5], 5)],
)
def test_other_passes_can_be_chosen(
    record: Record, capfd: pytest.CaptureFixture[str], chosen: str, recorded: list[int], forwards: int
) -> None:
    ended, recording = record(LOOP, passes=chosen)
    assert ended[1:3] == (0, None)
    assert [number for number, _ in passes(recording)] == recorded
    assert capfd.readouterr().out.count("forward") == forwards


def test_fewer_passes_than_were_asked_for(record: Record) -> None:
    ended, recording = record(LOOP, passes="4-9")
    assert [number for number, _ in passes(recording)] == [4, 5]
    assert ended.message == "script.py ended after 5 passes of the 4-9 asked for"
    ended, recording = record(LOOP, passes="9")
    assert ended[:3] == (None, 3, "script.py ended after 5 passes: there was no pass 9 to record")


@pytest.mark.parametrize("nonsense", ["0", "-1", "2-1", "x", "", "1-", "1,2", "٣"])
def test_passes_that_make_no_sense(record: Record, nonsense: str) -> None:
    with pytest.raises(RecordingError, match="give a number from 1, a range such as 3-5, or all"):
        record(LOOP, passes=nonsense)


# The script sees what plain Python would show it


def test_the_script_sees_its_arguments_and_its_place(record: Record, capfd: pytest.CaptureFixture[str]) -> None:
    text = """\
        import json, os, sys
        print(json.dumps([sys.argv, sys.path[0], __name__, __file__, os.getcwd(), __doc__, __package__]))
        import __main__
        assert __main__.__dict__ is globals()
    """
    ended, _ = record(text, "--rate", "0.1")
    recorded = json.loads(capfd.readouterr().out)
    script = os.path.join(os.path.dirname(recorded[3]), "script.py")
    plain = subprocess.run([sys.executable, script, "--rate", "0.1"], capture_output=True, check=True)
    assert recorded == json.loads(plain.stdout)
    assert recorded[0] == [script, "--rate", "0.1"]
    assert ended.exit_code == 3


def test_a_learners_modules_may_be_called_like_ours(
    record: Record, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ours = ["viz", "tui", "lessons", "file", "model", "run", "words", "child"]
    for name in ours:
        (tmp_path / f"{name}.py").write_text("mine = True\n")
    _, recording = record(f"""\
        import {", ".join(ours)}
        print({" and ".join(f"{name}.mine" for name in ours)})
        import microtape as mt
        x = mt.tensor(2.0, requires_grad=True)
        (x * x).backward()
    """)
    assert capfd.readouterr().out == "True\n"
    assert passes(recording) == [(1, "backward")]


def test_the_engine_alone_is_imported(record: Record, capfd: pytest.CaptureFixture[str]) -> None:
    record(
        "import sys; print([name for name in ('viz', 'tui', 'lessons', 'textual', 'graphviz') if name in sys.modules])"
    )
    assert capfd.readouterr().out == "[]\n"


def test_standard_input_is_the_scripts(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("print('read', input())\n")
    run = (
        "from microtape.recording.script.run import record_script;"
        f" record_script('script.py', out={str(tmp_path / 'o')!r})"
    )
    done = subprocess.run(
        [sys.executable, "-c", run], cwd=tmp_path, input="a line", capture_output=True, text=True, env=environment()
    )
    assert (done.stdout, done.stderr) == ("read a line\n", "")


def test_output_of_ours_and_of_the_script_keep_their_order(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("print('script')\n")
    run = (
        "print('before'); from microtape.recording.script.run import record_script; record_script('script.py', out='o')"
    )
    done = subprocess.run([sys.executable, "-c", run], cwd=tmp_path, capture_output=True, text=True, env=environment())
    assert done.stdout == "before\nscript\n"


def test_finally_blocks_and_exit_functions_run(record: Record, capfd: pytest.CaptureFixture[str]) -> None:
    record("""\
        import atexit, microtape as mt
        atexit.register(print, "at exit")
        x = mt.tensor(2.0, requires_grad=True)
        try:
            (x * x).backward()
            print("not reached")
        except Exception:
            print("not reached either")
        finally:
            print("finally", x.grad.item())
    """)
    assert capfd.readouterr() == ("finally 4.0\nat exit\n", "")


# How a script may end


def test_a_script_that_never_calls_backward(record: Record) -> None:
    ended, _ = record("import microtape as mt\nprint(mt.tensor(2.0) * 3)")
    assert ended[:3] == (None, 3, "script.py never called backward(): there is nothing to record")


def test_a_script_that_names_backward_without_calling_it(record: Record) -> None:
    ended, _ = record("import microtape as mt\nloss = mt.tensor(2.0, requires_grad=True) * 3\nloss.backward")
    assert ended.message is not None
    assert ended.message.endswith("there is nothing to record; line 3 names loss.backward without calling it")


def test_a_script_that_never_calls_backward_of_the_engine_that_was_asked_for(record: Record) -> None:
    ended, _ = record("import microtape as mt\nmt.tensor(2.0, requires_grad=True).backward()", engine="torch")
    message = "never called backward() of PyTorch, the engine that --engine names: there is nothing to record"
    assert ended[:3] == (None, 3, f"script.py {message}")


def test_a_script_that_raises_outside_of_backward(record: Record, capfd: pytest.CaptureFixture[str]) -> None:
    ended, recording = record("""\
        import microtape as mt
        w = mt.tensor([1.0, 2.0], requires_grad=True)
        doubled = w * 2
        try:
            doubled @ mt.tensor([1.0, 2.0, 3.0])
        except RuntimeError as error:
            raise ValueError("wrong size") from error
    """)
    assert ended[1:3] == (1, "script.py raised ValueError: what was recorded until then is kept")
    assert recording is not None
    assert recording.error is not None
    assert (recording.error.type, recording.error.message) == ("ValueError", "wrong size")
    assert [node.op for node in recording.nodes if node.kind == "operation"] == ["mul"]
    errors = capfd.readouterr().err
    assert "doubled @ mt.tensor([1.0, 2.0, 3.0])" in errors
    assert errors.endswith("ValueError: wrong size\n")
    assert errors.count("  File ") == errors.count("script.py") == 2


def test_a_script_that_raises_inside_backward(record: Record, capfd: pytest.CaptureFixture[str]) -> None:
    ended, recording = record("""\
        import microtape as mt

        class Faulty(mt.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, grad):
                raise LookupError("no such gradient")

        x = mt.tensor([1.0, 2.0], requires_grad=True)
        Faulty.apply(x * 3).sum().backward()
    """)
    assert ended[1:3] == (1, None)
    assert recording is not None
    (failed,) = recording.passes
    assert failed.error is not None
    assert failed.error.type == "LookupError"
    assert recording.nodes[failed.steps[-1].node].name == "FaultyBackward"
    assert failed.steps[-1].error == failed.error
    assert recording.error is None
    assert not recording.notes
    errors = capfd.readouterr().err
    assert errors.endswith("LookupError: no such gradient\n")
    assert errors.count("  File ") == errors.count("script.py") == 2


def test_a_script_that_handles_the_error_of_its_backward(record: Record, capfd: pytest.CaptureFixture[str]) -> None:
    ended, recording = record("""\
        import microtape as mt
        x = mt.tensor([0.0, 1.0], requires_grad=True)
        y = x.exp()
        y += 1
        try:
            y.sum().backward()
        except RuntimeError:
            print("as expected")
        x.sum().backward()
        print("not reached")
    """)
    assert ended[1:3] == (0, None)
    assert capfd.readouterr() == ("as expected\n", "")
    assert recording is not None
    assert [one.error.type for one in recording.passes if one.error] == ["ModifiedInPlaceError"]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("import sys; sys.exit(7)", 7, "script.py exited with status 7: nothing was recorded"),
        ("import sys; sys.exit('no data')", 1, "script.py exited with status 1: nothing was recorded"),
        ("import sys; sys.exit()", 3, "script.py never called backward(): there is nothing to record"),
        ("import os; os._exit(4)", 4, "script.py ended its process with status 4: nothing was recorded"),
        ("import os; os._exit(0)", 3, "script.py ended its process with status 0: nothing was recorded"),
        ("import os; os.kill(os.getpid(), 9)", 137, "script.py was killed by SIGKILL: nothing was recorded"),
        ("x = = 2", 1, "script.py raised SyntaxError: nothing was recorded"),
        ("\ufeffimport nothing_of_that_name", 1, "script.py raised ModuleNotFoundError: nothing was recorded"),
    ],
)
def test_a_script_that_ends_without_a_pass(record: Record, text: str, code: int, message: str) -> None:
    ended, _ = record(text)
    assert ended[:3] == (None, code, message)


def test_a_syntax_error_looks_as_python_shows_it(record: Record, capfd: pytest.CaptureFixture[str]) -> None:
    record("x = 1\ny = = 2\n")
    errors = capfd.readouterr().err.splitlines()
    assert errors[0].endswith('script.py", line 2')
    assert errors[1:] == ["    y = = 2", "        ^", "SyntaxError: invalid syntax"]


def test_an_exit_after_a_grad_call_keeps_it(record: Record) -> None:
    ended, recording = record("""\
        import sys, microtape as mt
        x = mt.tensor(2.0, requires_grad=True)
        mt.autograd.grad(x * x, x)
        sys.exit(5)
    """)
    assert ended[1:3] == (5, "script.py exited with status 5: what was recorded until then is kept")
    assert passes(recording) == [(1, "grad")]


def test_a_script_that_ends_its_process_at_once_when_stopped(record: Record) -> None:
    ended, recording = record("""\
        import os, microtape as mt
        x = mt.tensor(2.0, requires_grad=True)
        try:
            (x * x).backward()
        finally:
            os._exit(9)
    """)
    assert ended.exit_code == 9
    assert passes(recording) == [(1, "backward")]


def test_a_finally_block_that_stumbles_over_the_stop_is_not_blamed(
    record: Record, capfd: pytest.CaptureFixture[str]
) -> None:
    ended, _ = record("""\
        import microtape as mt
        x = mt.tensor(2.0, requires_grad=True)
        try:
            (x * x).backward()
            result = x.grad
        finally:
            print(result)
    """)
    assert ended[1:3] == (0, None)
    assert capfd.readouterr() == ("", "")


def test_a_script_that_catches_everything_is_stopped_all_the_same(
    record: Record, capfd: pytest.CaptureFixture[str]
) -> None:
    ended, recording = record("""\
        import microtape as mt
        x = mt.tensor(2.0, requires_grad=True)
        while True:
            try:
                (x * x).backward()
            except:
                print("again")
    """)
    assert ended[1:3] == (0, None)
    assert passes(recording) == [(1, "backward")]
    assert capfd.readouterr().out == "again\n" * 3


def test_a_thread_left_behind_does_not_keep_us(record: Record) -> None:
    ended, _ = record("""\
        import threading, microtape as mt
        threading.Thread(target=threading.Event().wait).start()
        x = mt.tensor(2.0, requires_grad=True)
        (x * x).backward()
    """)
    assert ended[1:3] == (0, None)


def test_under_an_event_loop(record: Record) -> None:
    ended, _ = record("""\
        import asyncio, microtape as mt

        async def train():
            x = mt.tensor(2.0, requires_grad=True)
            while True:
                try:
                    (x * x).backward()
                except Exception:
                    pass
                await asyncio.sleep(0)

        asyncio.run(train())
    """)
    assert ended[1:3] == (0, None)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_of_the_script_is_not_recorded(record: Record) -> None:
    ended, recording = record("""\
        import os, microtape as mt
        x = mt.tensor(2.0, requires_grad=True)
        if os.fork() == 0:
            (x + x + x).backward()
        else:
            os.wait()
            (x * x).backward()
    """)
    assert ended[1:3] == (0, None)
    assert recording is not None
    assert [node.op for node in recording.nodes if node.kind == "operation"] == ["mul"]


# From outside


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": ROOT}


def start(tmp_path: Path, script: str) -> subprocess.Popen[str]:
    """Record an endless script in a process group of its own, and wait until it has run its first pass."""
    (tmp_path / "script.py").write_text(textwrap.dedent(script))
    run = (
        "import json; from microtape.recording.script.run import record_script;"
        "print(json.dumps(record_script('script.py', out='run.tape', passes='all')))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", run],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=environment(),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


ENDLESS = """\
    import time, microtape as mt
    x = mt.tensor(2.0, requires_grad=True)
    (x * x).backward()
    print("ready", flush=True)
    while True:
        time.sleep(0.01)
"""


def test_ctrl_c_ends_an_endless_script_and_keeps_what_was_recorded(tmp_path: Path) -> None:
    process = start(tmp_path, ENDLESS)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to us and to the script
    out, errors = process.communicate(timeout=120)
    assert json.loads(out)[:3] == ["run.tape", 130, "script.py was interrupted: what was recorded until then is kept"]
    assert errors.endswith("KeyboardInterrupt\n")
    assert "child.py" not in errors
    recording = load(tmp_path / "run.tape")
    assert passes(recording) == [(1, "backward")]
    assert recording.error is not None
    assert recording.error.type == "KeyboardInterrupt"


def test_a_script_does_not_outlive_the_command(tmp_path: Path) -> None:
    process = start(
        tmp_path,
        ENDLESS.replace("    print(", "    open('pid', 'w').write(str(__import__('os').getpid()))\n    print("),
    )
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=120)
    recording, code, message, *_ = json.loads(out)
    assert (recording, code) == ("run.tape", 143)
    assert re.fullmatch(r"script\.py was killed by SIGTERM: the .*pass.* that had ended .* kept", message)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


# What is refused before anything runs


def test_a_script_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"nothing\.py: cannot be read: No such file or directory"):
        record_script(tmp_path / "nothing.py", out=tmp_path / "run.tape")


def test_a_folder_without_a_main_is_not_a_program(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"a folder without __main__\.py"):
        record_script(tmp_path, out=tmp_path / "run.tape")


@pytest.mark.parametrize("name", ["-", os.devnull])
def test_what_is_no_file_is_not_a_script(tmp_path: Path, name: str) -> None:
    with pytest.raises(RecordingError, match="not a file: save the script to one"):
        record_script(name, out=tmp_path / "run.tape")


def test_a_picture_is_not_a_script(tmp_path: Path) -> None:
    (tmp_path / "cat.py").write_bytes(b"\x89PNG\r\n\0\0")
    with pytest.raises(RecordingError, match=r"cat\.py: not a Python program"):
        record_script(tmp_path / "cat.py", out=tmp_path / "run.tape")


def test_a_recording_that_cannot_be_written_is_found_out_before_the_script_runs(
    record: Record, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "script.py"
    script.write_text("print('running')")
    with pytest.raises(RecordingError, match="cannot be written: there is no folder"):
        record_script(script, out=tmp_path / "nowhere" / "run.tape")
    with pytest.raises(RecordingError, match="cannot be written: it is a folder"):
        record_script(script, out=tmp_path)
    assert capfd.readouterr().out == ""


def test_the_script_is_not_overwritten_by_its_recording(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(LOOP))
    with pytest.raises(RecordingError, match="another file of this name, not a recording"):
        record_script(script, out=script)
    assert script.read_text() == textwrap.dedent(LOOP)


def test_a_recording_that_cannot_be_written_in_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deep").mkdir()
    text = "import shutil\nshutil.rmtree('deep')\n" + textwrap.dedent(LOOP)
    (tmp_path / "script.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RecordingError, match=r"run\.tape: cannot be written: No such file or directory"):
        record_script("script.py", out=os.path.join("deep", "run.tape"))


def test_budgets_reach_the_file(record: Record) -> None:
    _, recording = record(LOOP, element_budget=1)
    assert recording is not None
    assert any("element_budget=2 keeps all" in note for note in recording.notes)
