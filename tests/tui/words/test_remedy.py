"""A failed pass: the way out, in the user's own line where that can be done."""

import pytest

from microtape.recording.model.model import ErrorRecord, Place, Recording
from tests.support import handmade
from tests.tui.stepper.test_app import LARGE, shown, stepper
from tui.words.remedy import remedy


def suggestion(line, message="has been modified by an inplace operation", role="modified"):
    recording = Recording("p.py", (), (), (), {"p.py": f"import microtape\n{line}\n"})
    return remedy(recording, ErrorRecord("RuntimeError", message, ((role, Place("p.py", 2, 2, 0, 5, "<module>")),), ""))


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        ("y += 1", "y = y + 1"),
        ("    y *= a + b", "y = y * (a + b)"),
        ("e.add_(1.0)", "e = e.add(1.0)"),
        ("h.clamp_(min=0)", "h = h.clamp(min=0)"),
    ],
)
def test_a_line_that_wrote_in_place_is_written_anew(line, mended):
    assert f"write `{mended}` there" in suggestion(line)


@pytest.mark.parametrize("line", ["y[0] = 3", "model.w += 1", "if x:", "y.__init__(2)"])
def test_where_that_cannot_be_done_the_advice_is_general(line):
    assert "compute a new tensor" in suggestion(line)


def test_other_mistakes():
    assert "retain_graph=True" in suggestion(
        "z.backward()", "Trying to backward through the graph a second time", "raised"
    )
    assert ".sum()" in suggestion("z.backward()", "grad can be implicitly created only for scalar outputs", "raised")
    assert "requires_grad=True" in suggestion("z.backward()", "element 0 of tensors does not require grad", "raised")
    assert suggestion("1 / 0", "division by zero", "raised") == ""


async def test_the_stepper_opens_at_the_culprit_with_the_way_out():
    async with stepper(handmade.failing()).run_test(size=LARGE) as pilot:
        assert "write `e = e.add(1.0)` there" in " ".join(shown(pilot.app, "#node").split())
