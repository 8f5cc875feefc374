"""The check of one node: what is refused, and what another run of the program may bring."""

import re
import time

import pytest

import microtape as mt
from microtape.recording.script.run import record_script
from microtape.recording.writing.recorder import Recorder
from tests.support.recordings import handmade
from tests.tui.stepper.parts.fakes import FakeStepper
from tui.shell.opening import Origin, load_all
from tui.shell.spans import plain
from tui.stepper.derivative_screen import DerivativeScreen
from tui.stepper.parts.derivative_check import DerivativeCheck
from tui.words.jacobians import derivative_lines

PROGRAM = """\
import random
import microtape as mt


class Cube(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * grad * x**2


x = mt.tensor([1.0, 2.0], requires_grad=True)
for _ in range(3):
    (slope,) = mt.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
    slope.sum().backward()
"""


@pytest.fixture
def opened(tmp_path):
    """Opens a stepper on a program, with a part that can run it again."""
    parts = []

    def open_it(text=PROGRAM, passes=None):
        path = tmp_path / "cube.py"
        path.write_text(text)
        record_script(path, out=tmp_path / "run.tape", passes=passes)
        stepper = FakeStepper(load_all(str(tmp_path / "run.tape")))
        parts.append(DerivativeCheck(stepper, Origin(str(path), search=5)))
        return stepper, parts[-1], path

    yield open_it
    for part in parts:
        part.unmounted()


def finish(stepper):
    """Wait for the program."""
    (timer,) = stepper.timers
    while timer.is_running:
        timer.callback()
        time.sleep(0.01)


def page(stepper):
    """The text of the page that has opened."""
    assert isinstance(stepper.page, DerivativeScreen)
    lines = derivative_lines(stepper.page._cursor, stepper.page._node, 80)
    return "\n".join(re.sub(" +", " ", plain(one)).strip() for one in lines)


def test_the_program_runs_again_and_the_page_opens(opened):
    stepper, part, _ = opened()
    before = stepper.cursor = stepper.cursor.goto("Cube")
    part.derivative()
    assert "Checking %1 Cube, running cube.py again" in stepper.banner
    finish(stepper)
    assert stepper.banner == ""
    assert page(stepper).startswith(
        "✗ wrong: 2 of 4 derivatives differ from finite differences\n"
        "backward cube.py:14 return 2 * grad * x**2\n"
        "called cube.py:19 Cube.apply(x)\n"
        "sent finite differences differ: it sent 8.000, they give 12.00 at [1]\n"
        "\n"
        "∂%1/∂x rows: %1, columns: x\n"
        "✗ ∂%1[1]/∂x[1] backward gives 8, differences give 12\n"
        "✗ ∂%1[0]/∂x[0] backward gives 2, differences give 3\n"
    )
    assert stepper.cursor.position == before.position
    assert {stepper.cursor.recording.nodes[one.node].op for one in stepper.cursor.recording.checks} == {"Cube"}
    part.derivative()
    assert len(stepper.timers) == 1, "what is checked is only shown"


def test_a_node_of_the_second_derivative_in_a_later_pass(opened):
    stepper, part, _ = opened(passes="6")
    recording = stepper.cursor.recording
    (pass_,) = recording.passes
    node = next(one.node for one in pass_.steps if recording.nodes[one.node].op == "mul")
    stepper.cursor = stepper.cursor.goto_node(node)
    part.derivative()
    finish(stepper)
    assert page(stepper).startswith("✓ right: finite differences agree")
    assert {(one.pass_, one.node) for one in stepper.cursor.recording.checks} == {(5, node)}


def test_it_can_be_stopped(opened):
    stepper, part, _ = opened(PROGRAM + "import time\ntime.sleep(0 if 'x' in dir() else 1000)\n")
    assert not part.stop()
    stepper.cursor = stepper.cursor.goto("Cube")
    part.derivative()
    assert part.stop()
    assert stepper.banner == ""
    assert not stepper.app.pages


def test_other_numbers_stay_apart_from_the_recording(opened):
    stepper, part, _ = opened(PROGRAM.replace("[1.0, 2.0]", "[1 + random.random(), 2.0]"))
    recording = stepper.cursor.recording
    stepper.cursor = stepper.cursor.goto("Cube")
    part.derivative()
    finish(stepper)
    assert "other numbers this time" in stepper.notices[0]
    assert "✗ wrong: 2 of 4" in page(stepper)
    assert stepper.cursor.recording is recording


FIRST_TIME = "import os\nfirst = not os.path.exists({0!r})\nopen({0!r}, 'w').close()\n"


def test_a_program_that_goes_another_way_is_not_checked(opened, tmp_path):
    change = FIRST_TIME + "if not first:\n    x.sum().backward()\n"
    stepper, part, _ = opened(PROGRAM.replace("for _", change.format(str(tmp_path / "seen")) + "for _"))
    stepper.cursor = stepper.cursor.goto("Cube")
    part.derivative()
    finish(stepper)
    assert "%1 Cube could not be checked: step 2 of pass 1 is another one now" in stepper.notices[0]


def test_a_program_that_fails_now_says_why(opened, tmp_path):
    change = FIRST_TIME + "assert first\n"
    stepper, part, _ = opened(PROGRAM.replace("for _", change.format(str(tmp_path / "seen")) + "for _"))
    stepper.cursor = stepper.cursor.goto("Cube")
    part.derivative()
    finish(stepper)
    assert "%1 Cube could not be checked: cube.py raised AssertionError" in stepper.notices[0]


def test_an_edited_program_is_recorded_first(opened):
    stepper, part, path = opened()
    path.write_text(PROGRAM.replace("2 * grad", "3 * grad"))
    stepper.cursor = stepper.cursor.goto("Cube")
    part.derivative()
    assert stepper.notices == ["cube.py has changed since it was recorded: record it again (<edit>), then check it."]
    assert not stepper.timers


def test_what_cannot_be_checked_says_so():
    stepper = FakeStepper(handmade.diamond())
    part = DerivativeCheck(stepper, None)
    stepper.cursor = stepper.cursor.goto("x")
    part.derivative()
    stepper.cursor = stepper.cursor.goto("z")
    part.derivative()
    leaf, recording = stepper.notices
    assert leaf == "x is a leaf: nothing is computed there, so there is no derivative to check."
    assert recording.startswith("A recording cannot run its program again: `microtape step ")


def test_a_node_that_backward_does_not_evaluate():
    x = mt.tensor([1.0, 2.0], requires_grad=True)

    def program():
        h = x.exp()
        (x * h.detach()).sum().backward()

    recording = mt.record(program)
    stepper = FakeStepper(recording)
    stepper.cursor = stepper.cursor.to_moment(0).goto("exp")
    assert stepper.cursor.focus == 1
    DerivativeCheck(stepper, None).derivative()
    assert stepper.notices == ["Backward does not evaluate h (%1) in this pass, so it has no gradient to check."]


def test_what_was_checked_while_recording_needs_no_program():
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    with Recorder(check="all") as recorder:
        y = x.exp()
        y.sum().backward()
    stepper = FakeStepper(recorder.recording)
    stepper.cursor = stepper.cursor.goto("exp")
    DerivativeCheck(stepper, None).derivative()
    assert page(stepper).startswith("✓ right: finite differences agree")
