"""What is told instead of a general remedy, where the operations before a number that is not finite say more."""

from __future__ import annotations

import pytest

import microtape as mt
from microtape.recording import record
from microtape.recording.findings import Finding, findings
from microtape.recording.findings.values.rounded_away import kept_number, rounds_to_zero


def first(loss: object) -> Finding:
    return findings(record(lambda: loss().backward()))[0]  # type: ignore[operator]


def leaf(*numbers: float, dtype: object = mt.float32) -> mt.Tensor:
    return mt.tensor(list(numbers), dtype=dtype, requires_grad=True)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_the_number_that_is_told_is_not_lost_itself(dtype: str) -> None:
    assert not rounds_to_zero(float(kept_number(dtype)), dtype)
    assert rounds_to_zero(1e-8, dtype) is (dtype == "float16")


def test_a_limit_that_rounds_to_one_is_told_with_one_that_does_not() -> None:
    x = leaf(30.0, 0.5)
    found = first(lambda: (1 - x.sigmoid().clamp(1e-10, 1 - 1e-10)).log().sum())
    assert found.headline.endswith(": 1 - 1e-10 is 1 in float32")
    assert "clamp(1e-6, 1 - 1e-6)" in found.remedy


def test_a_summand_that_rounds_to_zero_is_told() -> None:
    x = leaf(0.0, 0.0, dtype=mt.float16)
    found = first(lambda: (x / (x.abs() + 1e-8)).sum())
    assert found.headline.endswith(": 1e-08 is 0 in float16")
    assert "+ 1e-3" in found.remedy


def test_a_limit_that_is_kept_is_not_blamed() -> None:
    x = leaf(30.0, 0.5)
    found = first(lambda: (1 - x.sigmoid().clamp(1e-10, 1.0)).log().sum())
    assert found.headline.endswith(": ln 0 = -inf")
    y = leaf(0.0, 2.0)  # the sum is 0 by another cause than its constant
    assert first(lambda: ((y - 1e-3) + 1e-3).log().sum()).headline.endswith(": ln 0 = -inf")


@pytest.mark.parametrize(("weight", "told"), [(0.5, True), (0.0, False)])
def test_a_sum_of_exponentials_is_told_unless_a_weight_is_zero(weight: float, told: bool) -> None:
    z, w = leaf(-500.0, -600.0), mt.tensor([1.0, weight])
    found = first(lambda: (w * z.exp()).sum(0).log())
    assert ("logsumexp(w.log() + z, dim=0)" in found.remedy) is told


def test_the_logarithm_of_a_determinant_is_told_by_its_sign() -> None:
    small, negative, singular = 1e-3 * mt.eye(30), mt.tensor([[0.0, 1.0], [1.0, 0.0]]), mt.ones(2, 2)
    remedies = [first(lambda m=m: mt.log(mt.det(m.requires_grad_()))).remedy for m in (small, negative, singular)]
    assert remedies[0].startswith("Write logdet(")
    assert "slogdet(" in remedies[1]
    assert remedies[2].startswith("Add a small number to its diagonal")


def test_a_product_that_underflows_is_told_unless_a_factor_is_zero() -> None:
    many, zero = mt.full((200,), 0.1).requires_grad_(), leaf(0.0, 0.5)
    assert "log().sum(" in first(lambda: many.prod().log()).remedy
    assert "log().sum(" not in first(lambda: zero.prod().log()).remedy


def test_a_power_is_told_by_the_sign_of_its_base() -> None:
    negative, zero = leaf(-0.5, 1.0), leaf(0.0, 1.0)
    assert first(lambda: (negative**0.5).sum()).remedy.startswith("Clamp it to above 0 first: negative.clamp(min=1e-6)")
    assert first(lambda: (zero**0.3).sum()).remedy == "Keep it above 0, such as by (zero + 1e-6) ** 0.3."
    assert first(lambda: (zero**-1).sum()).remedy == "Keep it above 0, such as by (zero + 1e-6) ** (-1)."


def test_a_power_that_overflows_is_not_told_to_keep_off_zero() -> None:
    x = leaf(0.0, 1e30)
    assert "above 0" not in first(lambda: (x**2).sum()).remedy


def test_a_target_whose_score_is_hidden_is_told_at_the_loss() -> None:
    scores = mt.ones(2, 3).requires_grad_()
    hidden = mt.tensor([[True, False, False], [False, True, False]])

    def loss(target: list[int]) -> mt.Tensor:
        return mt.nn.functional.cross_entropy((scores * 2).masked_fill(hidden, -mt.inf), mt.tensor(target))

    assert first(lambda: loss([0, 2])).headline.endswith(": a target's score is -inf")
    assert findings(record(lambda: loss([1, 2]).backward())) == ()
