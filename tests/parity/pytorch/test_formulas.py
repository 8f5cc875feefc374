"""The formulas of torch's nodes are right: evaluated with the recorded numbers, they give the recorded gradients."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microtape.recording import Recorder
from microtape.recording.model.formula import parse_formula
from microtape.recording.model.formula_names import named_formula, numbers_of
from microtape.recording.model.model import Recording
from tests.support.recorded_rules import contradictions, evaluated_rules

CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "mse mean": lambda t, x, y: t.nn.functional.mse_loss(x, y),
    "mse sum": lambda t, x, y: t.nn.functional.mse_loss(x, y, reduction="sum"),
    "mse none": lambda t, x, y: t.nn.functional.mse_loss(x, y, reduction="none"),
    "add alpha": lambda t, x, y: t.add(x, y, alpha=3),
    "sub alpha": lambda t, x, y: t.sub(x, y, alpha=3),
    "rsub": lambda t, x, y: 1 - x * y,
    "div": lambda t, x, y: x / (y + 2),
    "pow": lambda t, x, y: (x + 2) ** 3,
    "pow of two": lambda t, x, y: (x + 2) ** y,
    "lerp": lambda t, x, y: t.lerp(x, y, 0.25),
    "lerp by a tensor": lambda t, x, y: t.lerp(x, y, x * y),
    "addcmul": lambda t, x, y: t.addcmul(x, y, x + 1),
    "addcdiv": lambda t, x, y: t.addcdiv(x, y, x + 2),
    "sigmoid": lambda t, x, y: t.sigmoid(x) * t.tanh(y),
    "exp, log, sqrt": lambda t, x, y: ((x.exp() + 1).log() + 1).sqrt() + y,
    "logit": lambda t, x, y: t.logit(t.sigmoid(x)),
    "mean": lambda t, x, y: (x * y).mean(),
    "hypot": lambda t, x, y: t.hypot(x, y + 1),
    "softplus": lambda t, x, y: t.nn.functional.softplus(x, beta=2),
    "binary cross entropy": lambda t, x, y: t.nn.functional.binary_cross_entropy(t.sigmoid(x), t.sigmoid(y).detach()),
    "binary cross entropy, sum": lambda t, x, y: t.nn.functional.binary_cross_entropy(
        t.sigmoid(x), t.sigmoid(y).detach(), reduction="sum"
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_rule_that_is_arithmetic_gives_the_gradient(name: str) -> None:
    compared = list(evaluated_rules(recorded(CALLS[name])))
    assert compared
    for rule, computed, sent in compared:
        assert computed == pytest.approx(sent, rel=1e-5), rule


@pytest.mark.parametrize("part", range(6))
def test_no_rule_contradicts_the_gradient_that_was_sent(part: int) -> None:
    import torch

    from microtape.recording.pytorch.recorder import TorchRecorder

    assert contradictions(torch, TorchRecorder, slice(part, None, 6)) == []


WITH_CONSTANTS: dict[str, tuple[Callable[..., Any], str]] = {
    "addmm": (lambda t, x, y, n: t.addmm(x, x, y, beta=n), "Z = {n} · X + Y · W    ∂X = {n} · G,  ∂Y = G · Wᵀ,"),
    "addmv": (lambda t, x, y, n: t.addmv(x[0], y, x[1], alpha=n), "z = x + {n} · Y · w    ∂x = g,  ∂Y = {n} · g ⊗ w,"),
    "addr": (lambda t, x, y, n: t.addr(x, y[0], x[1], alpha=n), "Z = X + {n} · y ⊗ w    ∂X = G,  ∂y = {n} · G · w,"),
    "baddbmm": (lambda t, x, y, n: t.baddbmm(x[None], x[None], y[None], alpha=n), "Z = X + {n} · Y · W    ∂X = G,"),
    "index_add": (lambda t, x, y, n: x.index_add(0, t.arange(3), y, alpha=n), "z = x, with {n} · y added at [index]"),
    "add": (lambda t, x, y, n: t.add(x, y, alpha=n), "z = x + {n} · y    ∂z/∂x = 1,  ∂z/∂y = {n}"),
    "sub": (lambda t, x, y, n: t.sub(x, y, alpha=n), "z = x - {n} · y    ∂z/∂x = 1,  ∂z/∂y = -{n}"),
    "sub_": (lambda t, x, y, n: x.clone().sub_(y, alpha=n), "z = x - {n} · y    ∂z/∂x = 1,  ∂z/∂y = -{n}"),
    "rsub": (lambda t, x, y, n: t.rsub(x, y, alpha=n), "z = y - {n} · x    ∂z/∂x = -{n},  ∂z/∂y = 1"),
    "addcmul": (lambda t, x, y, n: t.addcmul(x, y, y, value=n), "z = x + {n} · y · w    ∂z/∂x = 1,  ∂z/∂y = {n} · w,"),
    "addcdiv": (lambda t, x, y: t.addcdiv(x, y, y), "z = x + y / w    ∂z/∂x = 1,  ∂z/∂y = 1 / w,  ∂z/∂w = -y / w²"),
    "lerp": (lambda t, x, y, n: t.lerp(x, y, n), "z = x + {n} · (y - x)    ∂z/∂x = 1 - {n},  ∂z/∂y = {n}"),
    "square": (lambda t, x, y: x**2, "z = x²    ∂z/∂x = 2 · x"),
    "cube": (lambda t, x, y: x**3.0, "z = x³    ∂z/∂x = 3 · x²"),
    "root": (lambda t, x, y: x**0.5, "z = x^0.5    ∂z/∂x = 0.5 · x^(-0.5)"),
    "inverse": (lambda t, x, y: x**-1, "z = x⁻¹    ∂z/∂x = -1 · x⁻²"),
    "power of a number": (lambda t, x, y, n: n**x, "z = {n}ʸ    ∂z/∂y = {n}ʸ · ln {n}"),
    "clamp": (lambda t, x, y, n: x.clamp(-n, n), "z = x within [-{n}, {n}]    ∂z/∂x = 1 where -{n} ≤ x ≤ {n}, else 0"),
    "clamp from below": (lambda t, x, y, n: x.clamp(n), "z = x within [{n}, ∞]    ∂z/∂x = 1 where {n} ≤ x ≤ ∞"),
    "clamp from above": (lambda t, x, y, n: x.clamp(max=-n), "z = x within [-∞, -{n}]    ∂z/∂x = 1 where -∞ ≤ x"),
    "clamp_min": (lambda t, x, y, n: x.clamp_min(n), "z = max(x, {n})    ∂z/∂x = 1 where x ≥ {n}, else 0"),
    "norm": (lambda t, x, y: x.norm(), "z = √(Σ |x|²)    ∂z/∂x = x / z,  0 where z = 0"),
    "norm of order 1": (lambda t, x, y: x.norm(1), "z = Σ |x|    ∂z/∂x = sign x"),
    "norm of order 3": (lambda t, x, y: t.linalg.vector_norm(x, 3), "z = (Σ |x|ᵖ)^(1/p), p = 3    ∂z/∂x = x ·"),
    "largest norm": (lambda t, x, y: x.norm(float("inf")), "z = (Σ |x|ᵖ)^(1/p), p = ∞    ∂z/∂x = "),
    "var": (lambda t, x, y: x.var(), "z = Σ (x - mean x)² / (N - 1)    ∂z/∂x = 2 (x - mean x) / (N - 1)"),
    "biased var": (lambda t, x, y: x.var(unbiased=False), "z = Σ (x - mean x)² / N    ∂z/∂x = 2 (x - mean x) / N"),
    "a row": (lambda t, x, y: x[1], "z = x[1]    ∂x = g at [1], 0 elsewhere"),
    "a column": (lambda t, x, y: x[:, 1], "z = x[:, 1]    ∂x = g at [:, 1], 0 elsewhere"),
    "rows": (lambda t, x, y: x[1:2], "z = x[1:2]    ∂x = g at [1:2], 0 elsewhere"),
    "columns": (lambda t, x, y: x[:, :2], "z = x[:, :2]    ∂x = g at [:, :2], 0 elsewhere"),
    "var_mean": (lambda t, x, y, n: t.var_mean(x, correction=n)[0], "z = Σ (x - mean x)² / (N - {n}), and mean x"),
}  # fmt: skip
"""Calls with a constant, most of them of a number n, and how the formula of their node begins, on both engines."""

LAYERS_WITH_CONSTANTS: dict[str, tuple[Callable[..., Any], str]] = {
    "linear": (lambda f, x, y: f.linear(x, y, y[0]), "Z = X + Y · W    ∂X = G,  ∂Y = G · Wᵀ,  ∂W = Yᵀ · G"),
    "hardtanh": (lambda f, x, y: f.hardtanh(x), "z = x within [-1, 1]    ∂z/∂x = 1 where -1 < x < 1"),
    "relu6": (lambda f, x, y: f.relu6(x), "z = x within [0, 6]    ∂z/∂x = 1 where 0 < x < 6"),
    "leaky_relu": (lambda f, x, y: f.leaky_relu(x), "z = x where x > 0, else 0.01 · x    ∂z/∂x = 1 where x >"),
    "elu": (lambda f, x, y: f.elu(x), "z = x where x > 0, else (eˣ - 1)    ∂z/∂x = 1 where x > 0, else eˣ"),
    "elu by n": (lambda f, x, y, n: f.elu(x, n), "z = x where x > 0, else {n} · (eˣ - 1)    ∂z/∂x = 1 where"),
    "celu": (lambda f, x, y, n: f.celu(x, n), "z = x where x > 0, else {n} · (e^(x / {n}) - 1)    ∂z/∂x = 1"),
    "softplus": (lambda f, x, y: f.softplus(x), "z = ln(1 + eˣ)    ∂z/∂x = σ(x)"),
    "softplus by n": (lambda f, x, y, n: f.softplus(x, n), "z = ln(1 + e^({n} · x)) / {n}    ∂z/∂x = σ({n} · x)"),
    "hardshrink": (lambda f, x, y, n: f.hardshrink(x, n), "z = x where |x| > {n}, else 0"),
    "softshrink": (lambda f, x, y, n: f.softshrink(x, n), "z = x - {n} where x > {n}, x + {n} where x < -{n}"),
    "smooth_l1": (lambda f, x, y: f.smooth_l1_loss(x, y), "z = mean of ½ · d² where |d| < 1, else |d| - ½,"),
    "smooth_l1 by n": (
        lambda f, x, y, n: f.smooth_l1_loss(x, y, reduction="sum", beta=n),
        "z = Σ ½ · d² / {n} where |d| < {n}, else |d| - ½ · {n},  d = x - y    ∂z/∂x = d / {n} within [-1, 1]",
    ),
    "huber": (
        lambda f, x, y, n: f.huber_loss(x, y, delta=n),
        "z = mean of ½ · d² where |d| < {n}, else {n} · (|d| - ½ · {n}),  d = x - y    ∂z/∂x = d within [-{n}, {n}]",
    ),
}  # fmt: skip
"""The same for functions of `nn.functional`."""

WITH_CONSTANTS |= {
    name: (lambda t, *rest, call=call: call(t.nn.functional, *rest), formula)
    for name, (call, formula) in LAYERS_WITH_CONSTANTS.items()
}


@pytest.mark.parametrize("name", WITH_CONSTANTS)
@pytest.mark.parametrize("engine", ["torch", "microtape"])
@pytest.mark.parametrize("n", [2, 0.25])
def test_a_formula_has_the_numbers_of_its_call(name: str, engine: str, n: float) -> None:
    call, formula = WITH_CONSTANTS[name]
    numbers = (n,) if "{n}" in formula else ()
    formulas = [node.formula for node in recorded(lambda t, x, y: call(t, x, y, *numbers), (3, 3), engine).nodes]
    assert any(one.startswith(formula.format(n=n)) for one in formulas), formulas


@pytest.mark.parametrize("name", [name for name, (_, formula) in WITH_CONSTANTS.items() if "{n}" in formula])
def test_both_engines_show_the_number_among_the_operands(name: str) -> None:
    call, _ = WITH_CONSTANTS[name]
    shown = [
        [
            one.text.rpartition("=")[2]
            for node in recorded(lambda t, x, y: call(t, x, y, 0.25), (3, 3), engine).nodes
            for one in node.operands
            if "0.25" in one.text
        ]
        for engine in ("torch", "microtape")
    ]
    assert shown[0] == shown[1] != []


COUNTS: dict[str, tuple[Callable[[Any, Any, Any], Any], dict[str, str]]] = {
    "mean": (lambda t, x, y: x.mean(), {"N": "12"}),
    "mean of rows": (lambda t, x, y: x.mean(1), {"N": "4"}),
    "mean of columns": (lambda t, x, y: x.mean(dim=0), {"N": "3"}),
    "std of columns": (lambda t, x, y: x.std(0), {"N": "3"}),
    "mse": (lambda t, x, y: t.nn.functional.mse_loss(x, y), {"N": "12"}),
    "sum of rows": (lambda t, x, y: x.sum(1), {}),
    "pooling": (lambda t, x, y: t.nn.functional.avg_pool2d(x[None], 2), {}),
    "fill": (lambda t, x, y: x.index_fill(0, t.tensor([0]), 7.0), {"n": "7"}),
    "mask": (lambda t, x, y: x.masked_fill(y > 1, float("-inf")), {"n": "-inf"}),
    "padding": (lambda t, x, y: t.nn.functional.pad(x, (1, 1), value=3.0), {"n": "3"}),
    "power": (lambda t, x, y: x**3, {}),
}
"""Calls of a matrix x, most of them with a number that is none of the formula, and what the formula calls n and N."""


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("engine", ["torch", "microtape"])
def test_a_count_is_that_of_the_elements_and_a_number_is_no_dimension(name: str, engine: str) -> None:
    call, expected = COUNTS[name]
    recording = recorded(call, (3, 4), engine)
    *_, node, summed = [one for one in recording.nodes if one.kind == "operation"]
    assert summed.op == "sum"
    assert numbers_of(recording, node) == expected


NAMED: dict[str, tuple[Callable[[Any, Any, Any], Any], str]] = {
    "where": (lambda t, x, y: t.where(x > 1, y, 0.5), "= y where mask, else 0.5    "),
    "where a constant": (lambda t, x, y: t.where(x > 1, t.ones(3, 3), y), "= ones where mask, else y"),
    "masked_fill": (lambda t, x, y: x.masked_fill(y > 1, -1e9), "= -1e9 where mask, else x    "),
    "gather": (lambda t, x, y: x.gather(1, t.tensor([[0], [1], [0]])), "[i] = x[index[i]]    "),
    "minimum": (lambda t, x, y: t.minimum(x, y), "= min(x, y)    "),
    "weighted": (
        lambda t, x, y: t.nn.functional.cross_entropy(x, t.tensor([0, 1, 2]), y[0].detach()),
        "· weight, N = Σ",
    ),
    "targets": (
        lambda t, x, y: t.nn.functional.cross_entropy(x, t.tensor([0, 1, 2]), label_smoothing=0.1),
        " / constant    ",
    ),
    "normalize": (lambda t, x, y: t.nn.functional.normalize(x), ", 1e-12)    "),
    "dropout": (lambda t, x, y: t.nn.functional.dropout(x, 0.25), "= x · constant    "),
}
"""Calls of which not all operands have a gradient, and part of a rule with the names of the program."""


@pytest.mark.parametrize("name", NAMED)
def test_a_rule_names_what_the_node_computes_with_and_nothing_else(name: str) -> None:
    call, part = NAMED[name]
    recording = recorded(call, (3, 3))
    names = {one.id: one.name or ("ones" if one.node is None else f"%{one.node}") for one in recording.tensors}
    rules = [
        named_formula(recording, node, lambda one: "constant" if one.ref is None else names[one.ref.tensor])
        for node in recording.nodes
    ]
    assert any(part in one for one in rules), rules


def test_a_norm_in_training_is_not_one_in_evaluation() -> None:
    import torch

    norm = torch.nn.BatchNorm1d(2)
    formulas = []
    for mode in (True, False):
        norm.train(mode)
        recording = recorded(lambda t, x, y: norm(x), (3, 2))
        formulas += [node.formula for node in recording.nodes if node.op == "batch_norm"]
    assert "mean(ĝ · x̂)" in formulas[0]
    assert "running" in formulas[1]


def test_parameters_that_were_not_given_are_not_in_the_formula() -> None:
    import torch

    x, w = torch.ones(1, 2, 4, 4, requires_grad=True), torch.ones(2, 2, 3, 3, requires_grad=True)
    layers = torch.nn.functional
    weight = torch.ones(2, requires_grad=True)
    mean, var = torch.zeros(2), torch.ones(2)
    calls: dict[Callable[[], Any], tuple[str, str]] = {
        lambda: layers.conv2d(x, w): ("", "bw"),
        lambda: layers.conv_transpose2d(x, w): ("", "bw"),
        lambda: layers.conv2d(x, w, weight): ("b", ""),
        lambda: layers.batch_norm(x, None, None, training=True): ("", "bw"),
        lambda: layers.batch_norm(x, mean, var): ("", "bw"),
        lambda: layers.batch_norm(x, mean, var, weight, weight): ("bw", ""),
        lambda: layers.layer_norm(x, (4, 4)): ("", "bw"),
        lambda: layers.group_norm(x, 2, weight): ("w", ""),
    }
    for call, (given, missing) in calls.items():
        (formula,) = {
            node.formula
            for node in recorded(lambda t, *_, call=call: call()).nodes
            if "w" in node.formula or "x̂" in node.formula
        }
        if "b" in missing:
            assert "+ b" not in formula
            assert "∂b" not in formula
        if "b" in given:
            assert "+ b" in formula
        if "x̂" in formula:
            assert ("w" in given) == ("· w" in formula)


COMMON = """
    Convolution NativeBatchNorm NativeLayerNorm NativeGroupNorm ScaledDotProductFlashAttentionForCpu
    LogSoftmax Softmax NllLoss NllLoss2D Embedding EmbeddingBag Gather Scatter ScatterAdd IndexPut Index
    IndexSelect Cat Stack Split Unbind MaxPool2DWithIndices AvgPool2D AdaptiveAvgPool2D Addmm Baddbmm
    Bmm Mm Mv Dot Gelu Silu Relu LeakyRelu Elu Tanh Sigmoid NativeDropout View UnsafeView Reshape
    ReshapeAlias T Transpose Permute Expand Clone ToCopy Select Slice Squeeze Unsqueeze MaskedFill Where
    Mul Add Sub Div Neg Exp Log Sqrt Rsqrt Pow Sum Mean Var Std LinalgVectorNorm Clamp MseLoss
    SmoothL1Loss HuberLoss BinaryCrossEntropyWithLogits UpsampleNearest2D UpsampleBilinear2D
    MkldnnRnnLayer Repeat Cumsum Sort Topk Amax
"""


@pytest.mark.parametrize("word", COMMON.split())
def test_the_common_nodes_have_a_formula(word: str) -> None:
    import torch

    from microtape.recording.pytorch.node_text import about_dropped

    name = next((f"{word}Backward{n}" for n in (0, 1) if hasattr(torch._C._functions, f"{word}Backward{n}")), None)
    if name is None:
        pytest.skip("not in this version of torch")
    parsed = parse_formula(about_dropped(name).formula)
    assert parsed.result


def recorded(call: Callable[[Any, Any, Any], Any], shape: tuple[int, ...] = (3,), engine: str = "torch") -> Recording:
    """The pass behind the sum of what a call computes of two tensors, each of which has a history of its own."""
    from microtape.recording.pytorch.recorder import TorchRecorder

    module: Any = importlib.import_module(engine)
    count = int(np.prod(shape))
    x, y = (module.linspace(low, low + 1, count).reshape(shape).requires_grad_() for low in (0.2, 0.5))
    recorder = TorchRecorder() if engine == "torch" else Recorder()
    with recorder:
        call(module, x, y).sum().backward()
    return recorder.recording


def test_the_formulas_are_known_in_a_process_that_has_imported_nothing_else() -> None:
    program = "from microtape.recording.pytorch.node_text import about_dropped; "
    program += "print(about_dropped('NativeLayerNormBackward0').formula != '')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
