"""A column and a vector of the same length: told where they are paired by mistake, and only there."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import microtape as mt
from microtape.recording.findings import findings

SIZE = 4
PAIRINGS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "+": lambda m, x, y: x + y,
    "-": lambda m, x, y: x - y,
    "*": lambda m, x, y: x * y,
    "/": lambda m, x, y: x / y,
    "**": lambda m, x, y: x**y,
    "%": lambda m, x, y: x % y,
    "fmod": lambda m, x, y: m.fmod(x, y),
    "addcmul": lambda m, x, y: m.addcmul(x, y, y),
    "addcdiv": lambda m, x, y: m.addcdiv(x, y, y),
    "lerp": lambda m, x, y: m.lerp(x, y, 0.5),
    "maximum": lambda m, x, y: m.maximum(x, y),
    "minimum": lambda m, x, y: m.minimum(x, y),
    "fmax": lambda m, x, y: m.fmax(x, y),
    "fmin": lambda m, x, y: m.fmin(x, y),
    "clamp": lambda m, x, y: m.clamp(x, y, y + 1),
    "clamp(min)": lambda m, x, y: m.clamp(x, min=y),
    "clamp(max)": lambda m, x, y: m.clamp(x, max=y),
    "where": lambda m, x, y: m.where(x > 0, x, y),
    "atan2": lambda m, x, y: m.atan2(x, y),
    "hypot": lambda m, x, y: m.hypot(x, y),
    "copysign": lambda m, x, y: m.copysign(x, y),
    "logaddexp": lambda m, x, y: m.logaddexp(x, y),
    "logaddexp2": lambda m, x, y: m.logaddexp2(x, y),
    "xlogy": lambda m, x, y: m.xlogy(x, y),
    "mse_loss": lambda m, x, y: m.nn.functional.mse_loss(x, y),
    "kl_div": lambda m, x, y: m.nn.functional.kl_div(x, y, reduction="sum"),
}
LAYERS: dict[str, Callable[[Any, int, int], Any]] = {
    "linear": lambda nn, before, after: nn.Linear(before, after),
    "recurrent": lambda nn, before, after: nn.RNNCell(before, after),
    "gated": lambda nn, before, after: nn.GRUCell(before, after),
    "pairs": lambda nn, before, after: _Pairs(nn.Bilinear(before, before, after)),
    "norm": lambda nn, before, after: nn.Sequential(nn.LayerNorm(before), nn.Linear(before, after)),
    "batch": lambda nn, before, after: nn.Sequential(nn.Linear(before, after), nn.BatchNorm1d(after)),
}


class _Pairs:
    """A bilinear layer as a layer of one argument."""

    def __init__(self, layer: Any) -> None:
        self.layer = layer

    def __call__(self, x: Any) -> Any:
        return self.layer(x, x)


@pytest.fixture(params=["microtape", pytest.param("torch", marks=pytest.mark.parity)], scope="module")
def engine(request: pytest.FixtureRequest) -> Any:
    return importlib.import_module(request.param)


def told(loss: Callable[[], Any]) -> list[str]:
    with mt.record() as recorder:
        loss().backward()
    return [one.headline for one in findings(recorder.recording) if one.kind == "broadcast"]


@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize("pairing", PAIRINGS)
@pytest.mark.parametrize("first", ["column", "vector"])
def test_every_function_of_elements_that_pairs_them_is_told(engine: Any, pairing: str, first: str) -> None:
    x = (engine.rand(SIZE, 1) + 1).requires_grad_()
    y = (engine.rand(SIZE) + 1).requires_grad_()
    if first == "vector":
        x, y = y, x
    (headline,) = told(lambda: PAIRINGS[pairing](engine, x, y).sum())
    assert f"{SIZE}×{SIZE}" in headline


small = st.sampled_from([1, SIZE])  # sizes that are equal by chance


@given(st.lists(st.tuples(st.sampled_from(sorted(LAYERS)), small), min_size=1, max_size=3), small)
def test_no_layer_is_told_whatever_sizes_are_equal(engine: Any, layers: list[tuple[str, int]], inputs: int) -> None:
    network, before = [], inputs
    for kind, after in layers:
        network.append(LAYERS[kind](engine.nn, before, after))
        before = after
    x, y = engine.rand(SIZE, inputs), engine.rand(SIZE, before)

    def loss() -> Any:
        h = x
        for layer in network:
            h = layer(h).tanh()
        return ((h - y) ** 2).mean()

    assert told(loss) == []


@pytest.mark.parametrize(
    ("loss", "severity"),
    [
        (lambda x, y: (x - y).mean(), "notice"),
        (lambda x, y: (-2 * (x + y)).mean(), "notice"),
        (lambda x, y: (x - y).mean() ** 2, "notice"),
        (lambda x, y: (x - y).sum(), "warning"),
        (lambda x, y: (x - y).mean(0).norm(), "warning"),
        (lambda x, y: ((x - y) ** 2).mean(), "warning"),
        (lambda x, y: (x * y).mean(), "warning"),
        (lambda x, y: ((x - y) * (x - y).detach()).mean(), "warning"),
    ],
)
def test_the_mean_of_a_difference_is_unharmed(loss: Callable[[mt.Tensor, mt.Tensor], mt.Tensor], severity: str) -> None:
    x, y = mt.ones(SIZE, 1, requires_grad=True), mt.arange(float(SIZE)).requires_grad_()
    found = findings(mt.record(loss(x * 2, y).backward))
    assert [one.severity for one in found if one.kind == "broadcast"][:1] == [severity]


@pytest.mark.parametrize("loss", ["mse_loss", "smooth_l1_loss", "huber_loss"])
def test_a_part_of_the_weights_times_losses_of_examples_is_told(engine: Any, loss: str) -> None:
    x, y = engine.rand(SIZE, 1).requires_grad_(), engine.rand(SIZE, 1)
    weights = engine.rand(3 * SIZE)
    losses = getattr(engine.nn.functional, loss)

    def weighted(weights: Any, losses: Any) -> list[str]:
        return told(lambda: (weights * losses()).mean())

    assert len(weighted(weights[:SIZE], lambda: losses(x, y, reduction="none"))) == 1
    assert len(weighted(weights[engine.arange(SIZE)], lambda: losses(x, y, reduction="none"))) == 1
    assert not weighted(weights[:SIZE, None], lambda: losses(x, y, reduction="none"))
    assert not weighted(weights[:SIZE], lambda: losses(x, y, reduction="none")[:, 0])
    assert not weighted(weights[:SIZE], lambda: x * 2)  # which may be a table on purpose


def test_a_prediction_minus_a_batch_of_the_targets_is_told(engine: Any) -> None:
    x, y = engine.rand(SIZE, 1).requires_grad_(), engine.rand(3 * SIZE)
    assert len(told(lambda: ((x * 2 - y[:SIZE]) ** 2).mean())) == 1
    assert len(told(lambda: (y.split(SIZE)[1] - x * 2).abs().mean())) == 1
    assert not told(lambda: ((x * 2)[:, 0] - y[:SIZE]).square().mean())
    assert not told(lambda: (x[:, 0][:, None] - y[:SIZE]).square().mean()), "a table of all pairs"
    assert not told(lambda: (x * 2 * y[:SIZE]).mean()), "the outer product"
