"""The numbers with which NaN or infinity begins: only those that give it are told."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

import microtape as mt
from microtape.recording import record
from microtape.recording.findings import Finding, findings


def first(loss: Callable[[], mt.Tensor]) -> Finding:
    return findings(record(lambda: loss().backward()))[0]


def test_a_formula_with_its_numbers_is_the_headline() -> None:
    p = mt.tensor([0.5, 0.0], requires_grad=True)
    finding = first(lambda: p.log().sum())
    assert finding.headline.endswith(": ln 0 = -inf")
    assert "where p[1] = 0." in finding.explanation[1]


@pytest.mark.parametrize("columns", [2, 3])
def test_a_product_of_matrices_is_not_told_as_a_product_of_two_elements(columns: int) -> None:
    x = mt.tensor([[1.0, 2.0], [3e30, 4.0]], requires_grad=True)
    w = mt.full((2, columns), 5e20)
    finding = first(lambda: (x @ w).sum())
    assert "·" not in finding.headline
    said = "matmul gives inf: the largest number of x is 3e30 and the largest number of w is 5e20."
    assert finding.explanation[:2] == (said, "float32 holds numbers up to 3.4e+38.")


def test_a_layer_whose_bias_alone_fits_the_result_is_told_by_all_its_operands() -> None:
    layer = mt.nn.Linear(2, 2)
    with mt.no_grad():
        layer.weight.fill_(1e20)
        layer.bias.fill_(0.25)
    finding = first(lambda: layer(mt.full((2, 2), 1e20)).sum())
    told = finding.explanation[0]
    assert "layer.bias is 0.25" in told
    assert "layer.weight is 1e20" in told


@pytest.mark.parametrize(("scores", "told"), [([3.0, math.inf], False), ([-math.inf, -math.inf], True)])
def test_a_softmax_is_told_by_an_element_only_if_it_is_that_of_the_whole_row(scores: list[float], told: bool) -> None:
    x = mt.tensor([1.0, 1.0], requires_grad=True)
    finding = first(lambda: mt.where(mt.isinf(mt.tensor(scores)), mt.tensor(scores), x).softmax(0).sum())
    assert finding.kind == "nan"
    assert (" / Σ " in finding.headline) is told


def test_one_of_several_results_is_told_by_its_variable() -> None:
    x = mt.tensor([0.0, 1.0], requires_grad=True)

    def normalised() -> mt.Tensor:
        h, rest = x.split(1)
        h = h / h
        return h.sum() + rest.sum()

    assert first(normalised).explanation[1] == "h[0] = nan, where the former h[0] = 0."


def test_the_former_value_of_a_variable_is_told_apart() -> None:
    x = mt.tensor([0.0, 1.0], requires_grad=True)

    def program() -> mt.Tensor:
        y = x * 2
        y = y.log()
        return y.sum()

    finding = first(program)
    assert "y[0] = -inf, where the former y[0] = 0." in finding.explanation


@pytest.mark.parametrize(
    ("loss", "why"),
    [
        (lambda w: w[w > 5].mean(), "w[w > 5] is empty"),
        (lambda w: w[:0].mean(), "w[:0] is empty"),
        (lambda w: mt.nn.functional.mse_loss(w[:0], mt.ones(0)), "w[:0] is empty"),
        (lambda w: mt.nn.functional.cross_entropy(w.expand(2, 2), mt.tensor([-100, -100])), "no target counts"),
    ],
)
def test_the_mean_of_nothing_is_told_as_that(loss, why):
    def program():
        w = mt.tensor([1.0, 2.0], requires_grad=True)
        loss(w).backward()

    found = findings(record(program))
    assert [one.kind for one in found] == ["nan"]
    assert found[0].headline.endswith(f": {why}")
    assert found[0].remedy.endswith("there is nothing to take the mean of.")
