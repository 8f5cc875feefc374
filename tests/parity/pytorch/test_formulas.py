"""The formulas of torch's nodes are right: evaluated with the recorded numbers, they give the recorded gradients."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from microtape.recording.model.arithmetic import evaluate
from microtape.recording.model.formula import element, gradient_of, index_of_largest, parse_formula, symbols
from microtape.recording.model.model import NodeRecord, Recording

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
    recording = recorded(CALLS[name])
    compared = [one for node, step in steps(recording) for one in evaluated(recording, node, step)]
    assert compared
    for rule, computed, sent in compared:
        assert computed == pytest.approx(sent, rel=1e-5), rule


MATRICES: dict[str, tuple[Callable[[Any, Any, Any], Any], str]] = {
    "linear": (
        lambda t, x, y: t.nn.functional.linear(x, y, y[0]),
        "Z = X + Y · W    ∂X = G,  ∂Y = G · Wᵀ,  ∂W = Yᵀ · G",
    ),
    "addmm": (
        lambda t, x, y: t.addmm(x, x, y, beta=2),
        "Z = β · X + α · Y · W    ∂X = β · G,  ∂Y = α · G · Wᵀ,  ∂W = α · Yᵀ · G",
    ),
}


@pytest.mark.parametrize("name", MATRICES)
def test_a_product_names_its_scales_only_if_it_has_some(name: str) -> None:
    call, formula = MATRICES[name]
    assert formula in [node.formula for node in recorded(call, (3, 3)).nodes]


def test_a_norm_in_training_is_not_one_in_evaluation() -> None:
    import torch

    norm = torch.nn.BatchNorm1d(2)
    formulas = []
    for mode in (True, False):
        norm.train(mode)
        recording = recorded(lambda t, x, y: norm(x), (3, 2))
        formulas += [node.formula for node in recording.nodes if node.op == "batch_norm"]
    assert "mean(h · x̂)" in formulas[0]
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


def recorded(call: Callable[[Any, Any, Any], Any], shape: tuple[int, ...] = (3,)) -> Recording:
    """The pass behind the sum of what a call computes of two tensors, each of which has a history of its own."""
    import torch

    from microtape.recording.pytorch.recorder import TorchRecorder

    count = int(np.prod(shape))
    x, y = (torch.linspace(low, low + 1, count).reshape(shape).requires_grad_() for low in (0.2, 0.5))
    recorder = TorchRecorder()
    with recorder:
        call(torch, x, y).sum().backward()
    return recorder.recording


def steps(recording: Recording) -> Iterator[tuple[NodeRecord, Any]]:
    for step in recording.passes[-1].steps:
        yield recording.nodes[step.node], step


def evaluated(recording: Recording, node: NodeRecord, step: Any) -> Iterator[tuple[str, float, float]]:
    """(rule, what it gives at the largest element, what was sent there) of the rules that can be evaluated."""
    operands = [one.ref for one in node.operands if one.ref is not None]
    values = {symbol: recording.value(ref) for symbol, ref in zip(symbols(node), operands, strict=False)}
    values |= {"z": recording.value(node.outputs[0])} if node.outputs and node.outputs[0] is not None else {}
    values |= {use.name: use.value for use in step.saved}
    for one in step.deliveries:
        rule = gradient_of(node, one.output)
        if rule is None or not isinstance(one.term, np.ndarray):
            continue
        at = index_of_largest(one.term)
        numbers = {symbol: element(value, one.term.shape, at) for symbol, value in values.items() if value is not None}
        numbers["g"] = element(step.grad_outputs[0], one.term.shape, at)
        given = [float(operand.text) for operand in node.operands if operand.ref is None and operand.text.isdigit()]
        numbers |= {"n": 3.0 if node.op in ("mean", "mse_loss", "binary_cross_entropy") else next(iter(given), None)}
        numbers["α"] = 3.0
        computed = evaluate(rule.whole, {key: number for key, number in numbers.items() if number is not None})
        if computed is not None:
            yield rule.whole, computed, float(one.term[at])


def test_the_formulas_are_known_in_a_process_that_has_imported_nothing_else() -> None:
    program = "from microtape.recording.pytorch.node_text import about_dropped; "
    program += "print(about_dropped('NativeLayerNormBackward0').formula != '')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
