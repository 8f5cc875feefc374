"""What a recording says of an operation's arguments: all that matters, and nothing that was not given."""

from __future__ import annotations

import re

import pytest

import microtape as mt
from microtape.nn import functional as F  # noqa: N812 - as users write it
from microtape.recording.model.formula import gradient_of, symbols
from microtape.recording.model.formula_arguments import reduced
from microtape.recording.model.model import NodeRecord

X = {"x": (1, 2, 4, 4), "w": (2, 2, 3, 3)}


def leaves():
    return [mt.ones(*shape, requires_grad=True) for shape in X.values()]


def texts(node: NodeRecord) -> list[str]:
    """The arguments that are no tensors with a history of their own."""
    return [one.text for one in node.operands if one.ref is None]


@pytest.mark.parametrize("op", ["conv2d", "conv_transpose2d"])
def test_a_convolution_without_a_bias_shows_none(op):
    x, w = leaves()
    with mt.record() as r:
        getattr(F, op)(x, w).sum().backward()
    node = next(one for one in r.recording.nodes if one.op == op)
    assert len(node.operands) == 2
    assert "+ b" not in node.formula
    assert "∂b" not in node.formula
    assert len(node.edges) == 3  # as in torch, where the third leads nowhere
    assert symbols(node) == ("x", "w")
    assert gradient_of(node, 1) is not None
    assert gradient_of(node, 2) is None
    with mt.record() as r:
        getattr(F, op)(x, w, mt.ones(2, requires_grad=True)).sum().backward()
    node = next(one for one in r.recording.nodes if one.op == op)
    assert len(node.operands) == 3
    assert "+ b" in node.formula
    assert symbols(node) == ("x", "w", "b")


@pytest.mark.parametrize(
    ("op", "call"),
    [
        ("batch_norm", lambda x: F.batch_norm(x, None, None, training=True)),
        ("batch_norm", lambda x: F.batch_norm(x, mt.zeros(2), mt.ones(2))),
        ("layer_norm", lambda x: F.layer_norm(x, (4, 4))),
        ("group_norm", lambda x: F.group_norm(x, 2)),
    ],
)
def test_a_norm_without_parameters_shows_none(op, call):
    with mt.record() as r:
        call(leaves()[0]).sum().backward()
    node = next(one for one in r.recording.nodes if one.op == op)
    assert sum(one.ref is not None or one.text.startswith(("[", "all")) for one in node.operands) == 1
    assert not re.search(r"\b[wb]\b", node.formula)
    assert {one.name for one in node.saved} == {"x"}
    (step,) = [step for _, step in r.recording.steps() if step.node == node.id]
    assert {one.name for one in step.saved} == {"x"}


def test_a_norm_with_a_weight_alone_shows_it():
    x, weight = mt.ones(2, 3, requires_grad=True), mt.ones(3, requires_grad=True)
    with mt.record() as r:
        F.layer_norm(x, (3,), weight).sum().backward()
    node = next(one for one in r.recording.nodes if one.op == "layer_norm")
    assert node.formula.startswith("z = x̂ · w, x̂ =")


def test_an_embedding_shows_the_row_that_is_padding_if_there_is_one():
    weight = mt.ones(3, 2, requires_grad=True)
    with mt.record() as r:
        for padding in (None, 1):
            F.embedding(mt.tensor([0, 1]), weight, padding_idx=padding)
    assert [texts(one) for one in r.recording.nodes if one.op == "embedding"] == [[], ["padding_idx=1"]]


def test_arguments_that_matter_are_shown_and_defaults_are_not():
    x, w = leaves()
    with mt.record() as r:
        F.conv2d(x, w, stride=2, padding=1)
        F.conv2d(x, w)
        F.max_pool2d(x, 2)
        F.max_pool2d(x, 3, stride=1, padding=1)
        F.avg_pool2d(x, 2, padding=1, count_include_pad=False)
        rows = x.reshape(8, 4)
        F.nll_loss(rows, mt.tensor([0, 1, 2, 3] * 2))
        F.nll_loss(rows[:2], mt.tensor([0, 1]), weight=mt.ones(4), ignore_index=1, reduction="sum")
        F.mse_loss(x, 2 * x)
        rows.softmax(1)
    shown = [(one.op, texts(one)) for one in r.recording.nodes]
    assert [given for op, given in shown if op in ("conv2d", "max_pool2d", "avg_pool2d", "nll_loss", "mse_loss")] == [
        ["stride=(2, 2)", "padding=(1, 1)"],
        [],
        ["kernel=(2, 2)"],
        ["kernel=(3, 3)", "stride=(1, 1)", "padding=(1, 1)"],
        ["kernel=(2, 2)", "padding=(1, 1)", "count_padding=False"],
        ["target=[0, 1, 2, 3, 0, 1, 2, 3]"],
        ["target=[0, 1]", "weight=[1.0, 1.0, 1.0, 1.0]", "ignore_index=1", "reduction=sum"],
        [],
    ]
    assert ("softmax", ["dim=1"]) in shown


def test_arguments_are_those_of_the_call_whatever_is_written_to_them_afterwards():
    classes, weight = mt.tensor([0, 1]), mt.ones(3)
    with mt.record() as r:
        F.nll_loss(mt.ones(2, 3, requires_grad=True), classes, weight=weight)
        classes[0] = 2
        weight.mul_(4)
    assert texts(r.recording.nodes[-1]) == ["target=[0, 1]", "weight=[1.0, 1.0, 1.0]"]


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_the_formula_of_a_loss_is_that_of_its_reduction(reduction):
    x = mt.ones(2, 3, requires_grad=True)
    with mt.record() as r:
        F.mse_loss(x, mt.zeros(2, 3), reduction=reduction)
    formula = r.recording.nodes[-1].formula
    assert formula.startswith({"mean": "z = mean (x", "sum": "z = Σ (x", "none": "z = (x"}[reduction])
    assert ("/ N" in formula) == (reduction == "mean")
    assert reduced("z = mean of x    ∂x = g / N", reduction).startswith(
        "z = mean of" if reduction == "mean" else "z = "
    )
