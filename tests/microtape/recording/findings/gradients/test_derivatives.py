"""A backward is wrong if finite differences say so with each step; a layer may change its gradient on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape import load, save
from microtape.recording.findings import Finding, findings
from microtape.recording.model.model import Recording
from tests.programs.corpus import faults_of, record_program

engines = pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=pytest.mark.parity)])
PROGRAM = """\
import {engine} as mt

factor = {factor}


class Own(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return {forward}

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return {backward}


mt.manual_seed(0)
x = (mt.rand(150) + 0.5).requires_grad_()
for _ in range(3):
    (Own.apply(x) * mt.linspace(0.1, 1, 150)).sum().backward()
    factor = factor * 0.5 + 0.25
"""
ROUNDED = "(x**3 * 1e5).round() / 1e5"
HALVED = "((x / 1e-4).floor() * 1e-4) ** 3"


def recorded(folder: Path, engine: str, forward: str, backward: str, factor: float = 1.0) -> Recording:
    path = folder / "train.py"
    path.write_text(PROGRAM.format(engine=engine, forward=forward, backward=backward, factor=factor))
    recording, _ = record_program(path)
    assert recording.error is None
    assert faults_of(recording) == []
    return recording


def told(recording: Recording) -> list[Finding]:
    return [one for one in findings(recording) if one.kind == "wrong derivative"]


@engines
@pytest.mark.parametrize("forward", ["x**3", ROUNDED, HALVED, "(x.double() ** 3).float().to(x.dtype)"])
def test_a_forward_that_rounds(tmp_path: Path, engine: str, forward: str) -> None:
    assert told(recorded(tmp_path, engine, forward, "grad * 3 * x**2")) == []


@engines
@pytest.mark.parametrize("forward", ["x**3", "x**3 + x.round()", "x.abs() ** 3"])
@pytest.mark.parametrize("backward", ["grad * 2 * x**2", "grad * x**3", "-3 * grad * x**2"])
def test_a_wrong_backward(tmp_path: Path, engine: str, forward: str, backward: str) -> None:
    (finding,) = told(recorded(tmp_path, engine, forward, backward))
    assert finding.severity == "error"
    assert "Own.backward is wrong" in finding.headline


@engines
def test_a_straight_through_estimator(tmp_path: Path, engine: str) -> None:
    (finding,) = told(recorded(tmp_path, engine, "(x * 4).round() / 4", "grad"))
    assert finding.severity == "notice"


@engines
@pytest.mark.parametrize("factor", [0.0, 2.0])
@pytest.mark.parametrize("budget", [64, 4096])
def test_a_layer_that_scales_its_gradient(tmp_path: Path, engine: str, factor: float, budget: int) -> None:
    recording = recorded(tmp_path, engine, "x.view_as(x)", "-factor * grad", factor)
    save(recording, tmp_path / "train.tape", element_budget=budget)
    (finding,) = told(load(tmp_path / "train.tape"))
    assert finding.severity == "notice"
    assert "hands its argument on" in finding.headline
    assert not any("-0 times" in line for line in finding.explanation)


ADDED = """\
import {engine} as mt


class Kept(mt.autograd.Function):
    @staticmethod
    def forward(ctx, memory, sums, last, n):
        ctx.sums, ctx.n = sums, n
        return memory[: n + 1]

    @staticmethod
    def backward(ctx, grad):
        ctx.sums[: ctx.n + 1] += grad
        return None, None, ctx.sums[ctx.n].clone(), None


mt.manual_seed(0)
w = mt.randn(3, requires_grad=True)
for _ in range(2):
    memory, sums = mt.zeros(4, 3), mt.zeros(4, 3)
    loss = (w**2).sum()
    for n in range(4):
        value = mt.sin(w * (n + 1))
        with mt.no_grad():
            memory[n] = value.detach()
        loss = loss + (Kept.apply(memory, sums, value, n).clone() ** 2).sum()
    loss.backward()
"""


@engines
def test_a_backward_that_adds_up_gradients_in_what_ctx_keeps_is_not_told_to_be_overwritten(
    tmp_path: Path, engine: str
) -> None:
    path = tmp_path / "train.py"
    path.write_text(ADDED.format(engine=engine))
    recording, _ = record_program(path)
    assert recording.error is None
    assert all(one.severity == "notice" and "overwritten" not in one.headline for one in told(recording))
