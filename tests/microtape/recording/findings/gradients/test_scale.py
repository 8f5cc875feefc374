"""Gradients that vanish or explode: only what grows on its way, and not where a way joins another."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import microtape as mt
from microtape.recording import record
from microtape.recording.findings import findings

LAYERS = 20


def told(loss: Callable[[], mt.Tensor]) -> list[str]:
    return [one.kind for one in findings(record(lambda: loss().backward())) if one.severity == "warning"]


def through(layers: int, h: mt.Tensor, factor: float) -> mt.Tensor:
    for _ in range(layers):
        h = mt.tanh(h * factor)
    return h


@pytest.mark.parametrize(("factor", "expected"), [(1.0, []), (3.0, ["exploding"]), (0.3, ["vanishing"])])
def test_a_gradient_that_changes_at_each_layer(factor: float, expected: list[str]) -> None:
    x = mt.full((4, 4), 1e-9, requires_grad=True)
    assert told(lambda: through(LAYERS, x, factor).sum()) == expected


def test_a_side_branch_of_little_weight_that_joins_the_main_way_is_no_explosion() -> None:
    x = mt.full((4, 4), 1e-9, requires_grad=True)

    def loss() -> mt.Tensor:
        h = through(LAYERS, x, 1.0)
        return h.sum() + 1e-13 * through(3, h, 1.0).sum()

    assert told(loss) == []
