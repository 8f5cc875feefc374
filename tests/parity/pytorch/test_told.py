"""What the recorder of PyTorch's passes says of a write, of a version that was not tried, and beyond its budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import microtape as mt
from microtape.recording.findings import Finding, findings

pytestmark = pytest.mark.parity


def found_in(program: Callable[[], None]) -> Finding:
    with mt.record() as recorder, pytest.raises(RuntimeError, match="modified by an inplace operation"):
        program()
    finding = findings(recorder.recording)[0]
    assert finding.kind == "overwritten"
    return finding


def line_of(mark: str) -> int:
    with open(__file__, encoding="utf-8") as source:
        return next(number for number, text in enumerate(source, 1) if text.rstrip().endswith(f"# {mark}"))


def test_a_write_through_another_view_is_named(torch: Any) -> None:
    x = torch.ones(4, requires_grad=True)

    def program() -> None:
        y = x * 2
        z = (y * y).sum()
        y[:2].add_(1)  # through a view
        (y.sum() + z).backward()

    finding = found_in(program)
    assert finding.place is not None
    assert finding.place.line == line_of("through a view")


def test_a_version_of_torch_that_was_not_tried_is_said(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "__version__", "2.3.1+cpu")
    w = torch.tensor(1.0, requires_grad=True)
    with mt.record() as recorder:
        (w * 2).backward()
    assert "recorded on torch 2.3.1+cpu; microtape was tried with 2.4 to 2.14" in recorder.recording.notes


def test_beyond_the_budget_of_calls_one_that_fails_is_kept(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("microtape.recording.writing.calls.CALLS", 2)

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
