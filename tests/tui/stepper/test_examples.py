"""Every bundled example, recorded as a user would, through the stepper, the trace and the picture."""

import json
import re
from functools import partial
from pathlib import Path

import pytest

import microtape
import viz
from microtape.recording.model.formatting import format_value
from microtape.recording.script.run import record_script
from tests.tui.stepper.test_app import bar, row, sentence, shown
from tui.commands.cli import main
from tui.shell.demos import EXAMPLES
from tui.stepper.app import StepperApp
from tui.time.cursor import StepCursor
from tui.words.trace import trace

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


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", NAMES)
async def test_the_stepper_shows_what_was_recorded_and_the_same_on_the_way_back(tapes, name):
    recording = microtape.load(tapes(name))
    async with StepperApp(recording).run_test(size=(160, 50)) as pilot:
        screen = pilot.app.screen
        for number, one in enumerate(recording.passes):
            if number:
                await pilot.press("right_square_bracket")
            await pilot.press("end", "home")
            assert bar(pilot.app) == f"step 0 of {len(one.steps)}"
            await pilot.press(*["left"] * 3)  # the program's last operations
            seen, walk = {}, min(len(one.steps), 16)
            for _ in range(3 + walk):
                seen[screen.cursor.position] = panes(pilot.app)
                await pilot.press("right")
                if screen.cursor.step is not None:
                    check(pilot.app, recording, screen.cursor.step)
            for _ in range(3 + walk):
                await pilot.press("left")
                assert panes(pilot.app) == seen[screen.cursor.position]
            await pilot.press("end")
            check(pilot.app, recording, one.steps[-1])


def panes(app):
    """What every pane says, and the tape's marks."""
    texts = [app.screen.query_one(f"#{name}").text for name in ("node", "leaves", "engine", "sentence")]
    return [*texts, shown(app, "#tape")]


def check(app, recording, step):
    """What is on the screen is this step."""
    node = recording.nodes[step.node]
    assert row(app, step.node)[0] == ("✗" if step.error else "▶")
    assert shown(app, "#node").split()[0] == f"%{node.id}"
    assert node.name in app.screen.query_one("#node").text
    if not step.error:
        for one in step.deliveries:
            if one.term is not None and one.term.shape == ():
                assert format_value(one.total, 12) in shown(app, "#node")
    if node.variable is not None:
        mine = [line for line in app.screen.query_one("#leaves").text.splitlines() if "complete" in line]
        assert any(line.startswith(recording.label(node.id)) for line in mine)
        if step.grad_after is not None and step.grad_after.shape == ():
            assert any(format_value(step.grad_after, 12) in line for line in mine)
    for ready in app.screen.cursor.ready[:3]:
        assert recording.label(ready) in app.screen.query_one("#engine").text
    if node.place is not None:
        assert recording.sources[node.place.file].splitlines()[node.place.line - 1].split()[0] in shown(app, "#source")
    assert recording.label(node.id) in sentence(app)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", NAMES)
def test_the_trace_tells_every_step(tapes, name):
    recording = microtape.load(tapes(name))
    text = "\n".join(trace(recording))
    for one in recording.passes:
        assert text.count(f" of {len(one.steps)}  ·") >= len(one.steps)
    assert ("failed at step" in text) == (name in FAILING)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", NAMES)
def test_the_json_is_json(tapes, name, capfd):
    assert main(["trace", tapes(name), "--json"]) == 0
    data = json.loads(capfd.readouterr().out)
    assert [len(one["steps"]) for one in data["passes"]] == [
        len(one.steps) for one in microtape.load(tapes(name)).passes
    ]


@pytest.mark.sampled(6)
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


@pytest.mark.parity
@pytest.mark.parametrize("name", ["diamond", "mlp", "rnn", "nan_gradient"])
async def test_the_order_of_the_steps_is_torch_s(name, monkeypatch, tmp_path):
    torch = pytest.importorskip("torch")
    order, backward = [], torch.Tensor.backward

    class EnoughError(Exception):
        """The first pass is over."""

    def watched(tensor):
        nodes, seen = [tensor.grad_fn], set()
        while nodes:
            node = nodes.pop()
            if node is not None and node not in seen:
                seen.add(node)
                node.register_prehook(partial(lambda name, _: order.append(name), node.name().rpartition("::")[2]))
                nodes += [following for following, _ in node.next_functions]
        backward(tensor)
        raise EnoughError

    monkeypatch.setattr(torch.Tensor, "backward", watched)
    program = (EXAMPLES / f"{name}.py").read_text().replace("import microtape as mt", "import torch as mt", 1)
    with pytest.raises(EnoughError):
        exec(compile(program, name, "exec"), {"__name__": "__main__"})
    record_script(EXAMPLES / f"{name}.py", out=str(tmp_path / "run.tape"))  # the first pass
    async with StepperApp(microtape.load(tmp_path / "run.tape")).run_test(size=(160, 50)) as pilot:
        shows = []
        while pilot.app.screen.cursor.next_node is not None:
            await pilot.press("right")
            shows.append(re.search(r"\b(\w+Backward\d*|AccumulateGrad)\b", shown(pilot.app, "#node"))[0])
    assert shows == order
