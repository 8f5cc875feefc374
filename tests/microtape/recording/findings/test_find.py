"""All findings of a recording: their order, when they are computed, and what they leave alone."""

from __future__ import annotations

import gc
import importlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import microtape as mt
from microtape.recording import Recording, record
from microtape.recording.findings import Finding, find, findings
from microtape.recording.findings.find import known_findings
from microtape.recording.findings.finding import MOST_IN_A_HEADLINE
from microtape.recording.writing.recorder import Recorder


def found(program: object) -> list[Finding]:
    return list(findings(record(program)))  # type: ignore[arg-type]


def test_errors_come_before_warnings_and_notices() -> None:
    def program() -> None:
        x = mt.tensor([1.0, 2.0], requires_grad=True)
        dead = mt.tensor([-1.0, -2.0], requires_grad=True)
        root = mt.tensor(0.0, requires_grad=True)
        for _ in range(2):
            ((x * 2).sum() + dead.relu().sum() + root.sqrt()).backward()

    severities = [one.severity for one in found(program)]
    assert severities == sorted(severities, key=["error", "warning", "notice"].index)
    assert set(severities) == {"error", "warning", "notice"}


@pytest.mark.faults
def test_a_search_that_fails_costs_only_what_it_looks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def dead_ends(program: object) -> Iterator[Finding]:
        raise KeyError("on purpose")
        yield

    monkeypatch.setattr(find, "_DETECTORS", (dead_ends, *find._DETECTORS))
    first, last = found(mt.tensor(0.0, requires_grad=True).sqrt().backward)
    assert (first.kind, last.kind, last.severity) == ("infinity", "fault", "notice")
    assert last.explanation[0].startswith("The search for dead ends failed: KeyError: 'on purpose' (test_find.py:")
    assert len(last.headline) <= MOST_IN_A_HEADLINE


def test_they_are_computed_once_for_a_recording_and_forgotten_with_it() -> None:
    recording = record(mt.tensor(0.0, requires_grad=True).sqrt().backward)
    assert known_findings(recording) is None
    first = findings(recording)
    assert known_findings(recording) is first is findings(recording)
    del recording
    gc.collect()
    other: Recording = record(mt.tensor(1.0, requires_grad=True).sqrt().backward)
    assert known_findings(other) is None


def test_an_infinity_that_a_mask_puts_there_is_none() -> None:
    def program() -> None:
        scores = mt.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        mask = mt.tensor([[False, True], [False, False]])
        (scores.masked_fill(mask, float("-inf")).softmax(1) ** 2).sum().backward()

    assert found(program) == []


@pytest.mark.parametrize("masked", [0, 2])
def test_a_row_of_nothing_but_masked_scores_is_where_nan_begins(masked: int) -> None:
    def program() -> None:
        scores = mt.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        mask = mt.tensor([[masked > 0, masked > 1], [False, False]])
        (scores.masked_fill(mask, float("-inf")).softmax(1) ** 2).sum().backward()

    assert [one.kind for one in found(program)] == ["nan"] * (masked == 2)


def test_one_finding_for_each_origin_with_its_spread() -> None:
    def program() -> None:
        x = mt.tensor([0.0, 1.0], requires_grad=True)
        y = mt.tensor(0.0, requires_grad=True)
        z = y.sqrt()
        ((x.log() * 2.0 - 1.0).sum() + z).backward()

    (only,) = found(program)  # the loss is infinite already: the slope of the root is no other origin
    assert only.kind == "infinity"
    assert "log" in only.headline
    assert len(only.spread) >= 4


def test_a_kink_is_not_a_wrong_derivative() -> None:
    x = mt.tensor([0.0, -1.0, 2.0], requires_grad=True)
    with mt.recording.Recorder(check="all") as recorder:
        (x.relu() + x.abs() + x.clamp(0.0, 2.0)).sum().backward()
    assert recorder.recording.checks
    assert findings(recorder.recording) == ()


def test_leaves_with_one_cause_share_a_finding() -> None:
    def program() -> None:
        weights = [mt.tensor(1.0 + i, requires_grad=True) for i in range(5)]
        head = mt.tensor(2.0, requires_grad=True)
        hidden = mt.stack(weights).sum()
        (hidden.detach() * head).backward()
        with mt.no_grad():
            for w in weights:
                w += 1

    (only,) = found(program)
    assert (only.kind, only.severity) == ("no gradient", "error")
    assert "weights[0], weights[1] and 3 more get no gradient" in only.headline


@pytest.mark.parametrize("layer", [mt.nn.RNN, mt.nn.GRU])
def test_a_state_that_each_pass_hands_to_the_next_is_not_computed_once(layer: type[mt.nn.Module]) -> None:
    rnn = layer(2, 3)

    def program() -> None:
        h = mt.zeros(1, 1, 3)
        for _ in range(2):
            y, h = rnn(mt.ones(4, 1, 2), h)
            y.sum().backward()

    finding = next(one for one in found(program) if one.kind == "freed")
    assert finding.headline.startswith("h carries the graph of pass 1 into pass 2, where it is freed: test_find.py:")
    assert "use h.detach()" in finding.remedy


def test_what_a_loop_uses_again_and_again_is_computed_once() -> None:
    w = mt.tensor([1.0, 2.0], requires_grad=True)

    def program() -> None:
        scale = w.exp()
        for _ in range(2):
            (scale * mt.ones(2)).exp().sum().backward()

    finding = next(one for one in found(program) if one.kind == "freed")
    assert finding.headline.startswith("scale at test_find.py:")
    assert finding.headline.endswith("is computed once, but used in every pass")


def test_a_gradient_that_is_small_in_side_branches_does_not_vanish() -> None:
    def branch(h: mt.Tensor) -> mt.Tensor:
        return ((((((h * 0.1) * 0.1) * 0.1) * 0.1) * 0.1) * 0.1) * 0.1

    def residual() -> None:
        h = x = mt.ones(3, requires_grad=True)
        for _ in range(3):
            h = h + branch(h)
        h.sum().backward()
        assert x.grad is not None

    def plain() -> None:
        h = mt.ones(3, requires_grad=True)
        for _ in range(3):
            h = branch(h)
        h.sum().backward()

    def scores() -> None:
        """The longest way leads through a branch, and ends where the gradient has come back to its size."""
        x = mt.ones(3, requires_grad=True)
        h = x * 2
        (h + branch(branch(h))).sum().backward()

    assert findings(record(residual)) == ()
    assert findings(record(scores)) == ()
    assert [one.kind for one in findings(record(plain))] == ["vanishing"]


def test_an_operand_without_a_name_is_named_as_it_is_written() -> None:
    def program() -> None:
        x, mask = mt.ones(2, 3, requires_grad=True), mt.tensor([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
        mean = (x * mask).sum(1) / mask.sum(1)
        mean.sum().backward()

    first = found(program)[0]
    assert first.kind == "nan"
    assert "mean[1] = nan, where ((x * mask).sum(1))[1] = 0 and (mask.sum(1))[1] = 0." in first.explanation


def test_an_argument_without_a_name_is_named_as_it_is_written() -> None:
    def program() -> None:
        net, x = mt.nn.Linear(2, 1), mt.tensor([[1.0, 2.0], [0.0, 0.0]])
        net(x / x.sum(1, keepdim=True)).sum().backward()

    first = found(program)[0]
    assert first.kind == "nan"
    assert first.headline.endswith(": its input is not finite")
    assert "(x / x.sum(1, keepdim=True))[1, 0] is nan before anything is computed of it." in first.explanation


def test_a_leaf_that_is_not_finite_has_no_input() -> None:
    def program() -> None:
        weights_of_the_second_encoder_block_of_the_student = mt.tensor([1.0, math.nan], requires_grad=True)
        (weights_of_the_second_encoder_block_of_the_student * 2).sum().backward()

    first = found(program)[0]
    assert first.kind == "nan"
    assert "its input" not in first.headline


def test_no_other_tensor_is_taken_for_the_argument_of_a_call() -> None:
    """The recurrent layer makes its first state itself."""

    def program() -> None:
        net, x = mt.nn.RNN(2, 3), mt.tensor([[[1.0, 2.0]], [[0.0, 0.0]]])
        net(x / x.sum(2, keepdim=True))[0].sum().backward()

    first = found(program)[0]
    assert first.kind == "nan"
    assert "x.sum" not in " ".join((first.headline, *first.explanation))


def test_a_weight_that_begins_at_zero_may_be_meant() -> None:
    """As the second matrix of LoRA does."""
    a, b = mt.ones(2, 4, requires_grad=True), mt.zeros(3, 2, requires_grad=True)

    def program() -> None:
        (mt.ones(5, 4) @ a.t() @ b.t()).sum().backward()

    (only,) = found(program)
    assert (only.kind, only.severity) == ("zero gradient", "notice")
    assert only.headline.startswith("The gradient of a is zero: b is zero at test_find.py:")


def test_parts_of_an_installed_model_may_be_unused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "zoo_of_models.py").write_text(
        "import microtape as mt\n\n\n"
        "class Tall(mt.nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.body = mt.nn.Linear(3, 2)\n"
        "        self.pooler = mt.nn.Linear(2, 2)\n"
        "        self.mask = mt.nn.Parameter(mt.ones(2))\n\n"
        "    def forward(self, x):\n"
        "        return self.body(x)\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    installed = importlib.import_module("zoo_of_models")

    class Own(mt.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tall = installed.Tall()
            self.head = mt.nn.Linear(2, 1)
            self.unused = mt.nn.Linear(2, 1)

        def forward(self, x: mt.Tensor) -> mt.Tensor:
            out: mt.Tensor = self.head(self.tall(x))
            return out

    def program() -> None:
        model = Own()
        optimizer = mt.optim.SGD(model.parameters(), lr=0.1)
        loss = model(mt.ones(4, 3)).pow(2).mean()
        loss.backward()
        optimizer.step()

    warning, notice = findings(record(program))
    assert (warning.kind, warning.severity) == ("no gradient", "warning")
    assert warning.headline.startswith("unused.weight and unused.bias get no gradient")
    assert (notice.kind, notice.severity) == ("no gradient", "notice")
    assert notice.headline == "3 leaves of tall get no gradient: not on the way to loss"


def test_a_mask_of_zeros_in_an_installed_package_is_a_notice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def masked(losses, mask):\n    return (losses * mask).sum()\n"
    severities = []
    for folder in (tmp_path / "site-packages", tmp_path / "own"):
        folder.mkdir()
        (folder / f"losses_{folder.name[0]}.py").write_text(text)
        monkeypatch.syspath_prepend(str(folder))
        masked = importlib.import_module(f"losses_{folder.name[0]}").masked
        w = mt.ones(3, requires_grad=True)
        (only,) = findings(record(masked(w.exp(), mt.zeros(3)).backward))
        assert only.kind == "zero gradient"
        severities.append(only.severity)
    assert severities == ["notice", "warning"]


class Root(mt.autograd.Function):
    """A square root by Newton's method, which stops early."""

    @staticmethod
    def forward(ctx: Any, x: mt.Tensor) -> mt.Tensor:
        y = x
        for _ in range(3):
            y = (y + x / y) / 2
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, grad_y: mt.Tensor) -> mt.Tensor:
        (y,) = ctx.saved_tensors
        return grad_y / (2 * y)


def test_a_gradient_that_is_nearly_right_is_a_warning() -> None:
    def nearness(number: float) -> Finding:
        x = mt.tensor([number, 1.0], requires_grad=True)
        with Recorder(check="functions") as recorder:
            Root.apply(x).sum().backward()
        (only,) = findings(recorder.recording)
        return only

    near, far = nearness(5.0), nearness(50.0)
    assert (near.kind, near.severity) == ("wrong derivative", "warning")
    assert near.explanation[-1].startswith("They are close")
    assert (far.kind, far.severity) == ("wrong derivative", "error")
