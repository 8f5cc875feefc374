"""A saved tensor of PyTorch's that was overwritten: the finding names the line that wrote, however it wrote."""

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
    assert finding.place is not None
    return finding


def line_of(mark: str) -> int:
    with open(__file__, encoding="utf-8") as source:
        return next(number for number, text in enumerate(source, 1) if text.rstrip().endswith(f"# {mark}"))


@pytest.fixture
def pair(torch: Any) -> tuple[Any, Any]:
    return torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)


def test_a_write_to_a_leaf_without_history(torch: Any, pair: tuple[Any, Any]) -> None:
    w, x = pair

    def program() -> None:
        with torch.no_grad():
            w.mul_(3)
        y = (w * x).sum()
        with torch.no_grad():
            w.mul_(2)  # by hand
        (y + (w * 3).sum()).backward()

    finding = found_in(program)
    assert finding.place.line == line_of("by hand")
    assert finding.headline.startswith("w was overwritten at test_overwritten.py:")


def test_a_write_to_a_result_without_history(torch: Any, pair: tuple[Any, Any]) -> None:
    w, x = pair

    def program() -> None:
        y = w * x
        z = y * y
        with torch.no_grad():
            y[0] = 5  # through an index
        z.sum().backward()

    assert found_in(program).place.line == line_of("through an index")


@pytest.mark.parametrize("foreach", [True, False])
def test_the_step_of_an_optimizer_before_any_pass_has_used_the_tensor(
    torch: Any, pair: tuple[Any, Any], foreach: bool
) -> None:
    w, x = pair
    optimizer = torch.optim.SGD([w], 0.1, foreach=foreach)

    def program() -> None:
        y = (w * x).sum()
        w.grad = torch.ones(2)
        optimizer.step()  # by the optimizer
        y.backward()

    finding = found_in(program)
    assert finding.place.line == line_of("by the optimizer")
    assert "after the last backward" in finding.remedy


def test_the_step_of_an_optimizer_between_two_losses(torch: Any, pair: tuple[Any, Any]) -> None:
    w, x = pair
    optimizer = torch.optim.SGD([w], 0.1)

    def program() -> None:
        y = (w * x).sum()
        (w * 3).sum().backward()
        optimizer.step()  # between
        y.backward()

    assert found_in(program).place.line == line_of("between")


def test_a_write_through_another_view(torch: Any) -> None:
    x = torch.ones(4, requires_grad=True)

    def program() -> None:
        y = x * 2
        z = (y * y).sum()
        y[:2].add_(1)  # through a view
        (y.sum() + z).backward()

    assert found_in(program).place.line == line_of("through a view")


def test_writes_in_a_healthy_program_are_no_borders(torch: Any, pair: tuple[Any, Any]) -> None:
    w, x = pair
    with mt.record() as recorder:
        for _ in range(3):
            with torch.no_grad():
                w.mul_(2)
            (w * x).sum().backward()
    assert recorder.recording.borders == ()
