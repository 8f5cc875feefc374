"""`tui.step(x)` from Python: on a tensor, a recording, a file; in a terminal, without one, under an event loop."""

import os
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

import microtape
import tui
from microtape.errors import RecordingError
from tests.support.recordings import handmade

ROOT = Path(__file__).parents[3]


def test_a_recording_is_printed_where_there_is_no_terminal(capsys):
    tui.step(handmade.diamond())
    assert "Step 5 of 5" in capsys.readouterr().out


def test_so_is_a_file(tmp_path, capsys):
    microtape.save(handmade.diamond(), tmp_path / "run.tape")
    tui.step(tmp_path / "run.tape")
    assert "Step 5 of 5" in capsys.readouterr().out


def test_a_tensor_s_backward_is_called_recorded_and_shown(capsys):
    x = microtape.tensor(3.0, requires_grad=True)
    y = x * x
    tui.step(y)
    assert x.grad.item() == 6
    out = capsys.readouterr().out
    assert "x = 3  .grad  6  complete" in out
    assert "3 + 3 = 6" in out


def test_the_pass_has_the_names_and_the_line_of_the_caller(capsys):
    weight = microtape.tensor(3.0, requires_grad=True)
    squares = weight * weight
    tui.step(squares)
    out = capsys.readouterr().out
    assert "·  tui.step(squares)  ·" in out
    assert "∂squares/∂weight" in out


def test_backward_of_several_tensors_is_one_pass(capsys):
    x = microtape.tensor(3.0, requires_grad=True)
    tui.step([x * 2, x * x])
    assert x.grad.item() == 8
    assert "Pass 1 of 1" in capsys.readouterr().out


def test_a_backward_that_fails_is_shown_up_to_there(capsys):
    x = microtape.tensor([1.0], requires_grad=True)
    y = x.exp()
    y += 1
    tui.step(y.sum())
    assert "the value that its derivative needs is gone" in capsys.readouterr().out


def test_anything_else_is_a_type_error():
    with pytest.raises(TypeError, match="not int"):
        tui.step(3)
    with pytest.raises(TypeError, match="not an empty list"):
        tui.step([])
    with pytest.raises(TypeError, match="not int"):
        tui.step([microtape.ones(1), 3])


def test_a_file_that_is_none_is_a_recording_error(tmp_path):
    with pytest.raises(RecordingError):
        tui.step(tmp_path / "missing.tape")


def test_importing_tui_loads_no_textual():
    loaded = "import sys, tui; print('textual' in sys.modules)"
    output = subprocess.run([sys.executable, "-c", loaded], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert output.strip() == "False"


IN_A_LOOP = """\
import asyncio, tui
from tests.support.recordings import handmade

async def main():
    tui.step(handmade.diamond())
    print("back again")

asyncio.run(main())
"""


@pytest.mark.sampled(2)
@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
@pytest.mark.parametrize(
    "code",
    [
        "import tui; from tests.support.recordings.handmade import diamond; tui.step(diamond()); print('back again')",
        IN_A_LOOP,
    ],
)
def test_in_a_terminal_the_stepper_opens_and_q_comes_back(code):
    screen, status = in_a_terminal([sys.executable, "-c", code], "step 0 of 5", b"q")
    assert "step 0 of 5" in screen
    assert "back again" in screen
    assert status == 0


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
def test_the_command_steps_through_a_script_in_a_terminal(tmp_path):
    (tmp_path / "script.py").write_text(
        "import microtape as mt\nx = mt.tensor(3.0, requires_grad=True)\nprint('hello')\n(x * x).backward()\n"
    )
    command = [sys.executable, "-m", "microtape", "step", str(tmp_path / "script.py")]
    screen, status = in_a_terminal(command, "step 0 of 2", b"q")
    assert "hello" in screen
    assert status == 0


def in_a_terminal(command, wait_for, keys, seconds=30):
    """Run a command in a pseudo-terminal of 100x30; when a text has appeared, press keys. What it wrote, its status."""
    import fcntl
    import struct
    import termios

    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT), "MICROTAPE_REMEMBER": "0"}
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=ROOT)
    os.close(theirs)
    written, sent, end = "", False, time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            if select.select([ours], [], [], 0.1)[0]:
                try:
                    written += os.read(ours, 65536).decode(errors="replace")
                except OSError:  # the other end is closed
                    break
            if not sent and wait_for in written:
                os.write(ours, keys)
                sent = True
        return written, process.wait(timeout=60)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_it_takes_what_viz_draw_takes(capsys):
    x = microtape.tensor(3.0, requires_grad=True)
    with microtape.record() as r:
        (x * x).backward()
    tui.step(r)
    assert x.grad.item() == 6
    tui.step((x * 2).grad_fn)
    assert x.grad.item() == 8
    assert capsys.readouterr().out.count("Pass 1 of 1") == 2
