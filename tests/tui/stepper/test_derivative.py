"""`D` checks a node of a wrong Function now, and shows the wrong entries and the line of its backward."""

import pytest

from tests.support.waiting import until
from tests.tui.stepper.test_app import LARGE, SMALL, row, shown, stepper
from tui.shell.opening import Origin, load_all
from tui.stepper.derivative_screen import DerivativeScreen

WRONG = """\
import microtape as mt

class Softmax(mt.autograd.Function):
    @staticmethod
    def forward(ctx, scores):
        z = scores.softmax(dim=0)
        ctx.save_for_backward(z)
        return z

    @staticmethod
    def backward(ctx, grad_z):
        (z,) = ctx.saved_tensors
        return grad_z * z * (1 - z)

scores = mt.tensor([2.0, 1.0, 0.5], requires_grad=True)
probability = Softmax.apply(scores)
loss = -probability[1].log()
loss.backward()
"""


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_from_the_program_to_the_wrong_line(size, tmp_path):
    script = tmp_path / "wrong.py"
    script.write_text(WRONG)
    origin = Origin(str(script))
    origin.record(str(tmp_path / "wrong.tape"))
    recording = load_all(str(tmp_path / "wrong.tape"))
    async with stepper(recording, origin=origin).run_test(size=size) as pilot:
        await pilot.press("g", *"Softmax", "enter", "D")
        await until(pilot, lambda: isinstance(pilot.app.screen, DerivativeScreen))
        await pilot.pause()
        page = shown(pilot.app, "DerivativeScreen Static")
        first, backward, called, sent, _, heading, worst, *rest = page.splitlines()
        assert first == "✗ wrong: 6 of 9 derivatives differ from finite differences"
        assert backward == "backward  wrong.py:13  return grad_z * z * (1 - z)"
        assert called == "called    wrong.py:16  Softmax.apply(scores)"
        assert sent == "sent      finite differences differ: it sent 0.000, they give 0.6285 at [0]"
        assert heading == "∂probability/∂scores   rows: probability, columns: scores"
        assert worst == "✗ ∂probability[0]/∂scores[1]  backward gives 0, differences give -0.145"
        assert [line.split() for line in rest[-3:]] == [
            ["[0]", "0.233", "✗0", "✗0", "│", "0.233", "-0.145", "-0.0881"],
            ["[1]", "✗0", "0.178", "✗0", "│", "-0.145", "0.178", "-0.0324"],
            ["[2]", "✗0", "✗0", "0.121", "│", "-0.0881", "-0.0324", "0.121"],
        ]
        await pilot.press("escape")
        assert row(pilot.app, 1).startswith("▶✗"), "the finding has come with the check"
        assert "Softmax.backward is wrong at wrong.py:13" in shown(pilot.app, "FindingLine")


async def test_escape_stops_the_program_and_a_tape_says_what_to_do(tmp_path):
    script = tmp_path / "slow.py"
    script.write_text("import microtape as mt\nx = mt.ones(2, requires_grad=True)\nx.exp().sum().backward()\n")
    origin = Origin(str(script))
    assert origin.record(str(tmp_path / "slow.tape")).exit_code == 0
    recording = load_all(str(tmp_path / "slow.tape"))
    async with stepper(recording, origin=origin).run_test(size=SMALL) as pilot:
        await pilot.press("right", "right", "D")
        assert "Checking %1 exp, running slow.py again" in shown(pilot.app, "Banner")
        await pilot.press("escape")
        assert not pilot.app.screen.query_one("Banner").display
        assert pilot.app.screen.derivative_check.run is None
    async with stepper(recording, origin=Origin(str(tmp_path / "slow.tape"))).run_test(size=SMALL) as pilot:
        await pilot.press("right", "right", "D")
        (notice,) = pilot.app._notifications
        assert notice.message == (
            "A recording cannot run its program again: `microtape step slow.py`, or record it with --check."
        )
