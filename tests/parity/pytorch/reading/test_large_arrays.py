"""Large arrays are summaries, but for those in which NaN or infinity begins: findings name their numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microtape.recording.findings import Finding, findings
from microtape.recording.model.model import Recording, Summary

SIDE = 200  # 40,000 elements are too many to be kept


@pytest.fixture
def recorded(torch: Any) -> Callable[[Callable[[Any, Any], Any]], tuple[Recording, Finding]]:
    from microtape.recording.pytorch.recorder import TorchRecorder

    def record(loss_of: Callable[[Any, Any], Any]) -> tuple[Recording, Finding]:
        x = torch.rand(SIDE, SIDE, generator=torch.Generator().manual_seed(1)) + 0.1
        x[7, 3] = 0
        x.requires_grad_()
        with TorchRecorder() as recorder:
            loss_of(torch, x).backward()
        recording = recorder.recording
        return recording, next(one for one in findings(recording) if one.severity == "error")

    return record


def kinds(recording: Recording, shape: tuple[int, ...]) -> set[type]:
    return {type(value) for tensor in recording.tensors if tensor.shape == shape for value in tensor.values.values()}


@pytest.mark.parametrize(
    ("loss_of", "headline", "element"),
    [
        (lambda torch, x: (x * 2).log().sum(), "ln 0 = -inf", "[7, 3] = 0"),
        (lambda torch, x: (x * 2).sqrt().sum(), "1 · (1 / (2·0)) = inf", "[7, 3]"),
        (lambda torch, x: (x.t() * 2).log().sum(), "ln 0 = -inf", "[3, 7] = 0"),
        (lambda torch, x: (x.bfloat16() * 2).log().sum(), "ln 0 = -inf", "[7, 3] = 0"),
        (lambda torch, x: (x * 2).view(-1).log().sum(), "ln 0 = -inf", f"[{7 * SIDE + 3}] = 0"),
        (lambda torch, x: (x * 2).view(SIDE // 2, 2, SIDE).permute(1, 0, 2).log().sum(), "ln 0", "[1, 3, 3] = 0"),
    ],
)
def test_the_numbers_are_named(recorded: Any, loss_of: Any, headline: str, element: str) -> None:
    _, finding = recorded(loss_of)
    assert headline in finding.headline
    assert element in " ".join(finding.explanation)


def test_other_arrays_of_the_same_pass_are_summaries(recorded: Any) -> None:
    recording, _ = recorded(lambda torch, x: ((x + 1).exp() * (x * 2).log()).sum())
    assert kinds(recording, (SIDE, SIDE)) == {np.ndarray, Summary}


def test_a_mask_of_infinities_is_a_summary_where_nothing_is_wrong(torch: Any) -> None:
    from microtape.recording.pytorch.recorder import TorchRecorder

    x = torch.rand(SIDE, SIDE, requires_grad=True)
    with TorchRecorder() as recorder:
        masked = (x * 2).masked_fill(torch.eye(SIDE, dtype=torch.bool), float("-inf"))
        (masked.softmax(-1) ** 2).sum().backward()
    assert findings(recorder.recording) == ()
    assert kinds(recorder.recording, (SIDE, SIDE)) == {Summary}


def test_what_was_summarised_once_stays_so(torch: Any) -> None:
    from microtape.recording.pytorch.recorder import TorchRecorder

    x = torch.rand(SIDE, SIDE, requires_grad=True)
    with TorchRecorder() as recorder:
        (x * 2).exp().sum().backward()
        first = recorder.recording
        (x - x).log().sum().backward()
    assert kinds(first, (SIDE, SIDE)) == {Summary}
    assert [one.headline.partition(": ")[2] for one in findings(recorder.recording)][:1] == ["ln 0 = -inf"]


@pytest.mark.parametrize("side", [SIDE, 40])
@pytest.mark.parametrize("budget", [0, 150_000, 1 << 30])
def test_a_weight_has_as_many_versions_as_its_updates_make_whatever_is_kept_of_it(torch, side, budget):
    from microtape.recording.pytorch.reading.values import Budget, Values
    from microtape.recording.pytorch.recorder import TorchRecorder

    torch.manual_seed(0)
    w = torch.randn(side, side, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    recorder = TorchRecorder()
    recorder.values = recorder.tensors.values = Values(Budget(budget))
    with recorder:
        for _ in range(4):
            for _ in range(3):
                (torch.randn(side) @ w).tanh().sum().backward()
                recorder.seal_passes()
            optimizer.step()
            optimizer.zero_grad()
    record = next(one for one in recorder.recording.tensors if one.is_leaf and one.requires_grad)
    assert len(record.values) == 5  # one before the first update
