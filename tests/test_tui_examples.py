"""Every bundled example, recorded as a user would, through the stepper, the trace and the picture."""

import json
from pathlib import Path

import pytest
from test_tui_app import bar, row, sentence, shown

import microtape
import viz
from microtape.recording.run import record_script
from microtape.recording.words import format_value
from tui.app import StepperApp
from tui.cli import main
from tui.cursor import StepCursor
from tui.demos import EXAMPLES
from tui.trace import trace

NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py"))
FAILING = {"in_place_error"}


@pytest.fixture(scope="module")
def tapes(tmp_path_factory):
    folder, known = tmp_path_factory.mktemp("tapes"), {}

    def tape(name):
        if name not in known:
            known[name] = str(folder / f"{name}.tape")
            record_script(EXAMPLES / f"{name}.py", out=known[name])
        return known[name]

    return tape


def test_there_are_examples():
    assert {"diamond", "mlp", "rnn", "gradient_penalty"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
async def test_the_stepper_shows_what_was_recorded(tapes, name):
    recording = microtape.load(tapes(name))
    async with StepperApp(recording).run_test(size=(160, 50)) as pilot:
        for number, one in enumerate(recording.passes):
            if number:
                await pilot.press("right_square_bracket")
            await pilot.press("end", "home")
            assert bar(pilot.app) == f"step 0 of {len(one.steps)}"
            for step in one.steps[:12]:
                await pilot.press("right")
                check(pilot.app, recording, step)
            await pilot.press("end")
            check(pilot.app, recording, one.steps[-1])
            for step in reversed(one.steps[-6:]):
                check(pilot.app, recording, step)
                await pilot.press("left")


def check(app, recording, step):
    """What is on the screen is this step."""
    node = recording.nodes[step.node]
    assert row(app, step.node)[0] == ("✗" if step.error else "▶")
    assert shown(app, "#node").split()[:2] == [f"%{node.id}", node.name]
    if not step.error:
        for one in step.deliveries:
            if one.term is not None and one.term.shape == ():
                assert format_value(one.total, 12) in shown(app, "#node")
    if node.variable is not None:
        grads = shown(app, "#leaves")
        assert any(recording.label(node.id) in line and "complete" in line for line in grads.splitlines())
    if node.place is not None:
        assert recording.sources[node.place.file].splitlines()[node.place.line - 1].split()[0] in shown(app, "#source")
    assert recording.label(node.id) in sentence(app)


@pytest.mark.parametrize("name", NAMES)
def test_the_trace_tells_every_step(tapes, name):
    recording = microtape.load(tapes(name))
    text = "\n".join(trace(recording))
    for one in recording.passes:
        assert text.count(f" of {len(one.steps)}  ·") >= len(one.steps)
    assert ("failed at step" in text) == (name in FAILING)


@pytest.mark.parametrize("name", NAMES)
def test_the_json_is_json(tapes, name, capfd):
    assert main(["trace", tapes(name), "--json"]) == 0
    data = json.loads(capfd.readouterr().out)
    assert [len(one["steps"]) for one in data["passes"]] == [
        len(one.steps) for one in microtape.load(tapes(name)).passes
    ]


@pytest.mark.parametrize("name", NAMES)
def test_the_picture_is_drawn_at_the_stepper_s_moment(tapes, name):
    recording = microtape.load(tapes(name))
    cursor = StepCursor.after(recording, 2)
    assert "digraph" in viz.draw(recording, step=cursor.steps_done, pass_index=cursor.timeline.pass_index).dot


def test_demo_without_a_terminal_prints_the_trace(capfd):
    assert main(["demo", "diamond"]) == 0
    assert "Step 5 of 5" in capfd.readouterr().out


def test_the_examples_are_where_the_package_says():
    assert Path(microtape.__file__).parent / "examples" == EXAMPLES
