"""A slope with next to no bound: named where it makes the gradient of a leaf enormous, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import microtape as mt
from microtape.recording import record
from microtape.recording.findings import Finding, findings

F = mt.nn.functional
Loss = Callable[[mt.Tensor], mt.Tensor]


def told(loss: Loss, *numbers: float, scale: float = 1.0) -> list[Finding]:
    x = mt.tensor(numbers, dtype=mt.float64, requires_grad=True)
    found = findings(record(lambda: loss(x).backward(mt.tensor(scale, dtype=mt.float64))))
    return [one for one in found if one.severity != "notice"]


NEAR_A_POLE: dict[str, tuple[Loss, tuple[float, ...], str]] = {
    "div": (lambda x: ((x - x.detach()) / (x**2 + 1e-12)).mean(), (0.0, 1.0), "= 1e-12"),
    "reciprocal": (lambda x: ((x - x.detach()) * (x**2 + 1e-12).reciprocal()).sum(), (0.0, 1.0), "1e12"),
    "rsqrt": (lambda x: ((x - x.detach()) * (x**2 + 1e-16).rsqrt()).sum(), (0.0, 1.0), "1e8"),
    "rsqrt, and a view": (
        lambda x: ((x - x.detach()) * (x[:1] ** 2 + 1e-16).rsqrt()[:, None].expand(1, 2)).sum(),
        (0.0, 1.0),
        "1e8",
    ),
    "sqrt": (lambda x: (x + 1e-18).sqrt().sum(), (0.0, 1.0), "= 1e-18"),
    "log": (lambda x: (x + 1e-12).log().mean(), (0.0, 1.0), "= 1e-12"),
    "pow": (lambda x: ((x + 1e-12) ** 0.3).sum(), (0.0, 1.0), "= 1e-12"),
    "asin": (lambda x: x.clamp(-1 + 1e-15, 1 - 1e-15).asin().sum(), (1 - 2e-15, 0.5), "= 1"),
    "normalize": (lambda x: (F.normalize(x.reshape(2, 2)) * mt.arange(4.0).reshape(2, 2)).sum(), (0, 0, 1, 2), ""),
}


@pytest.mark.parametrize("name", NEAR_A_POLE)
@pytest.mark.parametrize("scale", [1.0, 65536.0, 1e-9])
def test_it_is_named_whatever_the_loss_is_scaled_by(name: str, scale: float) -> None:
    loss, numbers, where = NEAR_A_POLE[name]
    (found,) = told(loss, *numbers, scale=scale)
    assert found.kind == "steep slope"
    assert where in found.explanation[0]
    assert found.explanation[-1].startswith("The gradient of x reaches ")


@pytest.mark.parametrize(
    ("loss", "numbers"),
    [
        (lambda x: (1 / x).sum(), (1e-10, 2e-10)),  # in units in which all numbers are small
        (lambda x: (x / 1e-10).sum() * 1e-10, (1.0, 2.0)),  # to other units, and back
        (lambda x: (x.softmax(0) + 1e-12).log().mean(), (0.0, -700.0)),  # what comes behind it makes up for it
        (lambda x: (x + 1e-3).log().mean(), (0.0, 1.0)),
        (lambda x: ((x**2).sum() + 1e-20).sqrt(), (0.0, 0.0)),  # its gradient is 0
        (lambda x: (x**2 - 1e10).sum(), (1e5, 1e5)),  # large numbers, whose square is steep
        (lambda x: (1e10 / x - 1e10).sum(), (1.0, 1.0)),  # a large numerator
        (lambda x: 1e7 * x.sum(), (1.0, 2.0)),  # a large factor is what was written
    ],
)
def test_all_else_is_not(loss: Loss, numbers: tuple[float, ...]) -> None:
    assert [one.kind for one in told(loss, *numbers)] == []


def test_a_gradient_that_is_not_finite_is_told_as_such() -> None:
    assert [one.kind for one in told(lambda x: x.log().sum() + (x[1:] + 1e-12).log().sum(), 0.0, 0.0)] == ["infinity"]


def test_a_gradient_that_grad_returns() -> None:
    x, w = mt.tensor([0.0, 1.0], requires_grad=True), mt.tensor(1.0, requires_grad=True)

    def program() -> None:
        y = w * x
        mt.autograd.grad((y + 1e-12).log().mean(), y)

    (found,) = findings(record(program))
    assert (found.kind, found.explanation[-1]) == ("steep slope", "The gradient of y reaches 5e11.")
