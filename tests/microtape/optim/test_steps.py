"""Each optimiser's step, against its formula in plain numbers; and the bookkeeping around it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import microtape as mt

Formula = Callable[[float, float], Iterator[float]]
GRADIENTS = (0.5, -1.0, 0.25, 2.0, -0.125)


def sgd(start: float, decay: float) -> Iterator[float]:
    p, b = start, 0.0
    for t, g in enumerate(GRADIENTS):
        d = g + decay * p
        b = 0.9 * b + (0.75 if t else 1) * d
        p = p - 0.1 * b
        yield p


def nesterov(start: float, decay: float) -> Iterator[float]:
    p, b = start, 0.0
    for g in GRADIENTS:
        d = g + decay * p
        b = 0.9 * b + d
        p = p - 0.1 * (d + 0.9 * b)
        yield p


def adam(start: float, decay: float, *, decoupled: bool = False, amsgrad: bool = False) -> Iterator[float]:
    p, m, v, largest = start, 0.0, 0.0, 0.0
    for t, g in enumerate(GRADIENTS, 1):
        d = g if decoupled else g + decay * p
        m, v = 0.8 * m + 0.2 * d, 0.9 * v + 0.1 * d * d
        largest = max(v, largest)
        p = p - 0.1 * decay * p if decoupled else p
        p -= 0.1 * (m / (1 - 0.8**t)) / (math.sqrt((largest if amsgrad else v) / (1 - 0.9**t)) + 1e-8)
        yield p


def rmsprop(start: float, decay: float, *, centered: bool = False) -> Iterator[float]:
    p, v, a, b = start, 0.0, 0.0, 0.0
    for g in GRADIENTS:
        d = g + decay * p
        v, a = 0.75 * v + 0.25 * d * d, 0.75 * a + 0.25 * d
        b = 0.5 * b + d / (math.sqrt(v - a * a if centered else v) + 1e-8)
        p -= 0.1 * b
        yield p


def adagrad(start: float, decay: float) -> Iterator[float]:
    p, s = start, 0.5
    for t, g in enumerate(GRADIENTS):
        d = g + decay * p
        s += d * d
        p -= 0.1 / (1 + 0.2 * t) * d / (math.sqrt(s) + 1e-10)
        yield p


BETAS = {"betas": (0.8, 0.9)}
MEANS = {"alpha": 0.75, "momentum": 0.5}
CASES = [
    (mt.optim.SGD, {"momentum": 0.9, "dampening": 0.25}, sgd),
    (mt.optim.SGD, {"momentum": 0.9, "nesterov": True}, nesterov),
    (mt.optim.Adam, BETAS, adam),
    (mt.optim.Adam, {**BETAS, "amsgrad": True}, lambda *given: adam(*given, amsgrad=True)),
    (mt.optim.AdamW, BETAS, lambda *given: adam(*given, decoupled=True)),
    (mt.optim.RMSprop, MEANS, rmsprop),
    (mt.optim.RMSprop, {**MEANS, "centered": True}, lambda *given: rmsprop(*given, centered=True)),
    (mt.optim.Adagrad, {"lr_decay": 0.2, "initial_accumulator_value": 0.5}, adagrad),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "options", "formula"), CASES)
@given(start=st.floats(-4, 4), decay=st.floats(0, 0.5))
def test_a_step_is_its_formula(kind: type, options: dict[str, object], formula: Formula, start: float, decay: float):
    p = mt.tensor([start], dtype=mt.float64, requires_grad=True)
    optimizer = kind([p], lr=0.1, weight_decay=decay, **options)
    for g, expected in zip(GRADIENTS, formula(start, decay), strict=True):
        p.grad = mt.tensor([g], dtype=mt.float64)
        optimizer.step()
        assert p.item() == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("kind", [mt.optim.SGD, mt.optim.Adam, mt.optim.AdamW, mt.optim.RMSprop, mt.optim.Adagrad])
def test_maximizing_is_minimizing_with_the_other_sign(kind: type):
    p, q = (mt.tensor([1.0, -2.0], requires_grad=True) for _ in range(2))
    up, down = kind([p], lr=0.1, maximize=True), kind([q], lr=0.1)
    for _ in range(3):
        p.grad, q.grad = mt.tensor([0.5, 2.0]), mt.tensor([-0.5, -2.0])
        up.step()
        down.step()
    assert p.tolist() == q.tolist() != [1, -2]


@pytest.mark.parametrize("kind", [mt.optim.SGD, mt.optim.Adam, mt.optim.AdamW, mt.optim.RMSprop, mt.optim.Adagrad])
def test_a_loaded_state_goes_on_as_the_saved_one(kind: type):
    options = {"momentum": 0.9} if kind is mt.optim.SGD else {}
    p = mt.tensor([1.0, -2.0], requires_grad=True)
    optimizer = kind([p], lr=0.1, **options)

    def step(p: mt.Tensor, optimizer: mt.optim.Optimizer) -> None:
        optimizer.zero_grad()
        (p * p).sum().backward()
        optimizer.step()

    step(p, optimizer)
    q = p.detach().clone().requires_grad_()
    other = kind([q], lr=7.0, **options)
    state = optimizer.state_dict()
    other.load_state_dict({"state": {0: {key: one.clone() for key, one in state["state"][0].items()}},
                           "param_groups": state["param_groups"]})  # fmt: skip
    for _ in range(3):
        step(p, optimizer)
        step(q, other)
        assert p.tolist() == q.tolist()


def test_a_closure_is_recorded_though_the_step_is_not():
    p = mt.tensor([3.0], requires_grad=True)
    optimizer = mt.optim.SGD([p], lr=0.1)

    def closure() -> mt.Tensor:
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    loss = optimizer.step(closure)
    assert loss.item() == 9
    assert loss.requires_grad
    assert p.is_leaf
    assert p.item() == pytest.approx(2.4)


def test_a_step_in_a_hook_of_the_leaf_needs_no_gradient_afterwards():
    p = mt.tensor([3.0], requires_grad=True)
    optimizer = mt.optim.SGD([p], lr=0.1)

    def step(leaf: mt.Tensor) -> None:
        optimizer.step()
        optimizer.zero_grad()

    p.register_post_accumulate_grad_hook(step)
    (p * p).sum().backward()
    assert p.grad is None
    assert p.item() == pytest.approx(2.4)


@pytest.mark.parametrize("option", ["differentiable", "capturable"])
def test_options_that_are_not_here_say_what_to_do(option: str):
    with pytest.raises(NotImplementedError, match=f"Adam\\({option}=True\\) is not here; run the program on PyTorch"):
        mt.optim.Adam([mt.zeros(1, requires_grad=True)], **{option: True})


def test_complex_parameters_are_for_sgd():
    p = mt.tensor([1 + 2j], requires_grad=True)
    optimizer = mt.optim.SGD([p], lr=0.25)
    (p * p.conj()).real.sum().backward()
    optimizer.step()
    assert p.tolist() == [0.5 + 1j]
    for kind in (mt.optim.Adam, mt.optim.AdamW, mt.optim.RMSprop, mt.optim.Adagrad):
        with pytest.raises(NotImplementedError, match=r"compute with view_as_complex\(p\)"):
            kind([p])


def test_classes_that_are_not_here_say_what_to_do():
    with pytest.raises(AttributeError, match=r"no attribute 'LBFGS': it is not here; run the program on PyTorch"):
        mt.optim.LBFGS  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'OneCycleLR': it is not here; run the program on PyTorch"):
        mt.optim.lr_scheduler.OneCycleLR  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'sdg'$"):
        mt.optim.sdg  # noqa: B018
