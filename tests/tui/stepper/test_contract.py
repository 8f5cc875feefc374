"""The contract of a Function in the stepper, by keystrokes."""

import pytest

import microtape
from microtape.recording.script.run import record_script
from tests.tui.stepper.test_app import stepper
from tests.tui.stepper.test_what_is_wrong import LARGE, SMALL, page
from tui.shell.demos import EXAMPLES


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    tape = str(tmp_path_factory.mktemp("tapes") / "run.tape")
    record_script(EXAMPLES / "several_outputs.py", out=tape)
    return microtape.load(tape)


def pane(app):
    """The node pane's whole text in one line, with single spaces."""
    return " ".join(app.screen.query_one("#node").text.split())


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_the_node_pane_says_what_each_output_is_both_ways(recording, size):
    async with stepper(recording).run_test(size=size) as pilot:
        await pilot.press("g", *"Clip", "enter")
        assert "received clipped [" in pane(pilot.app)
        assert "inside zeros: non-differentiable" in pane(pilot.app)
        assert "kept inside [0, 1, 0, 1] output, version 0, now 0" in pane(pilot.app)
        await pilot.press("home", "home", "right")
        assert "x [2, 0.5, -1, 0.25] needs a gradient" in pane(pilot.app)
        assert "inside [0, 1, 0, 1] non-differentiable (mark_non_differentiable)" in pane(pilot.app)
        assert "keeps inside output, version 0" in pane(pilot.app)


async def test_enter_explains_the_gradient_and_the_contract(recording):
    async with stepper(recording).run_test(size=LARGE) as pilot:
        await pilot.press("g", *"Clip", "enter", "enter")
        assert "The contract of Clip: x needs a gradient → [" in page(pilot.app)
        assert "inside non-differentiable (mark_non_differentiable) ← zeros" in page(pilot.app)
