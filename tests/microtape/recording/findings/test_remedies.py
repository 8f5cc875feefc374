"""What to do about a failure, in the user's own line where that can be done."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import microtape as mt
from microtape.recording import record
from microtape.recording.file.tape_file import load
from microtape.recording.findings import findings
from microtape.recording.findings.remedies import out_of_place
from microtape.recording.model.model import Place, Recording
from tests.support.recordings import handmade


def rewritten(line: str) -> str:
    recording = Recording("p.py", (), (), (), {"p.py": f"import microtape\n{line}\n"})
    return out_of_place(recording, Place("p.py", 2, 2, 0, 5, "<module>"))


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        ("y += 1", "y = y + 1"),
        ("    y *= a + b", "y = y * (a + b)"),
        ("e.add_(1.0)", "e = e.add(1.0)"),
        ("h.clamp_(min=0)", "h = h.clamp(min=0)"),
    ],
)
def test_a_line_that_wrote_in_place_is_written_anew(line: str, mended: str) -> None:
    assert rewritten(line) == mended


@pytest.mark.parametrize("line", ["y[0] = 3", "model.w += 1", "if x:", "y.__init__(2)"])
def test_some_lines_cannot_be_rewritten(line: str) -> None:
    assert rewritten(line) == ""


def remedy(program: object) -> str:
    return findings(record(program))[0].remedy  # type: ignore[arg-type]


def test_a_failure_has_its_remedy() -> None:
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    loss = (x * x).sum()

    def overwritten() -> None:
        y = x.exp()
        z = y * y
        y[0] = 3
        z.sum().backward()

    def twice() -> None:
        loss.backward()
        loss.backward()

    assert findings(handmade.failing())[0].remedy.startswith("Write `e = e.add(1.0)` there")
    assert "Compute a new tensor" in remedy(overwritten)
    assert "retain_graph=True" in remedy(twice)
    assert ".sum()" in remedy((x * 2).backward)
    assert "requires_grad=True" in remedy(mt.tensor(1.0).backward)
    assert findings(record(lambda: 1 / 0)) == ()


def test_an_update_that_comes_too_early_is_not_to_make_a_new_tensor() -> None:
    def program() -> None:
        w = mt.tensor([1.0, 2.0], requires_grad=True)
        x = (w * 3).sum()
        first, second = x * 2, (w * w).sum() * x
        first.backward(retain_graph=True)
        with mt.no_grad():
            w -= 0.1 * w.grad
        second.backward()

    found = findings(record(program))[0]
    assert found.kind == "overwritten"
    assert found.remedy.startswith("Update it after the last backward")


def test_a_softmax_of_which_no_number_was_kept_is_not_told_to_use_softmax(tmp_path: Path) -> None:
    scores = mt.ones(90, 90).requires_grad_()
    masked = (scores * 2).masked_fill(mt.arange(90)[:, None] == 7, -math.inf)
    record((masked.softmax(dim=-1) ** 2).sum().backward).save(tmp_path / "run.tape", total_budget=0)
    finding = findings(load(tmp_path / "run.tape"))[0]
    assert finding.headline.startswith("NaN begins at softmax, test_remedies.py:")
    assert finding.remedy.endswith("give each row a finite score.")


@pytest.mark.parametrize(("op", "how"), [("sqrt", "√(-0.5)"), ("log", "ln (-0.5)"), ("log10", "log₁₀ (-0.5)")])
def test_a_small_number_is_added_to_a_zero_but_not_to_a_negative_number(op: str, how: str) -> None:
    def program(low: float) -> None:
        getattr(mt.tensor([1.0, low], requires_grad=True), op)().sum().backward()

    negative, zero = (findings(record(lambda low=low: program(low)))[0] for low in (-0.5, 0.0))
    assert negative.headline.endswith(f"{how} = nan")
    assert negative.remedy.startswith(f"The input is negative, where {op} has no real value")
    assert f"{op}(x + eps)" in zero.remedy


@pytest.mark.parametrize(
    ("dim", "diagonal", "told"),
    [
        (1, 0, "Pass dim=-1 to softmax: along dim=1, all scores are -inf there"),
        (-1, -1, "Every score of that row is -inf"),
        (1, -1, "Every score of that row is -inf"),  # the mask is wrong, too
    ],
)
def test_a_softmax_along_another_dimension_than_its_mask(dim: int, diagonal: int, told: str) -> None:
    def program() -> None:
        mt.manual_seed(0)
        q = mt.randn(2, 3, 4, 5, requires_grad=True)
        scores = (q @ q.transpose(-2, -1)).masked_fill(mt.tril(mt.ones(4, 4), diagonal) == 0, -math.inf)
        (scores.softmax(dim=dim) @ q).sum().backward()

    assert remedy(program).startswith(told)
