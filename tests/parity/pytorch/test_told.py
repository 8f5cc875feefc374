"""What the recorder of PyTorch's passes says of a version that was not tried, and beyond its budget."""

from __future__ import annotations

from typing import Any

import pytest

import microtape as mt

pytestmark = pytest.mark.parity


def test_a_version_of_torch_that_was_not_tried_is_said(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "__version__", "2.3.1+cpu")
    w = torch.tensor(1.0, requires_grad=True)
    with mt.record() as recorder:
        (w * 2).backward()
    assert "recorded on torch 2.3.1+cpu; microtape was tried with 2.4 to 2.14" in recorder.recording.notes


def test_beyond_the_budget_of_calls_one_that_fails_is_kept(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("microtape.recording.writing.calls.call.CALLS", 2)

    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            raise ValueError("on purpose")

    with mt.record() as recorder:
        y = torch.ones(2, requires_grad=True)
        for _ in range(3):
            y = Fails.apply(y)
        with pytest.raises(ValueError, match="on purpose"):
            y.sum().backward()
    recording = recorder.recording
    assert [call.name for call in recording.calls] == ["Fails.forward", "Fails.forward", "Fails.backward"]
    assert recording.calls[-1].error is not None
    assert recording.calls[-1].error.message == "on purpose"
    assert "not kept, after the first 2" in " ".join(recording.notes)
