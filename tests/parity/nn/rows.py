"""Modules, as expressions, and the shapes of their inputs: `int` for whole numbers below 5, `target` for classes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Row(NamedTuple):
    """An expression for a module, and its inputs: shapes, or (shape, kind) pairs."""

    module: str
    inputs: tuple[Any, ...]


def _rows() -> list[Row]:
    image, words, signal = (2, 4, 6, 6), (5, 2, 3), (2, 4, 9)
    inputs = {
        "Identity(3)": [(2, 3)],
        "Linear(3, 4)": [(2, 3), (3,), (2, 5, 3)],
        "Linear(3, 4, bias=False)": [(2, 3), (2, 5, 3)],
        "Linear(3, 4, dtype=mt.float64)": [((2, 3), "float64")],
        "Linear(300, 200)": [(2, 300)],
        "Conv1d(4, 6, 3)": [signal, (4, 9)],
        "Conv1d(4, 6, 3, 2, 1, 2, 2, False)": [signal],
        "Conv1d(4, 6, 4, padding='same')": [signal],
        "Conv2d(4, 8, 3, padding=1)": [image, (4, 6, 6)],
        "Conv2d(4, 8, (2, 3), stride=2, padding=(1, 0), dilation=(1, 2), groups=2)": [image],
        "Conv2d(4, 8, 3, padding=1, padding_mode='reflect')": [image],
        "Conv2d(4, 8, 2, padding='same', padding_mode='circular')": [image],
        "Conv2d(4, 8, 3, padding='valid', bias=False)": [image],
        "ConvTranspose1d(4, 6, 3, 2)": [signal],
        "ConvTranspose2d(4, 8, 3, 2, 1, 1)": [image],
        "MaxPool1d(2)": [signal],
        "MaxPool2d(2)": [image],
        "MaxPool2d((2, 3), stride=1, padding=1)": [image],
        "AvgPool1d(3, 2)": [signal],
        "AvgPool2d(2)": [image],
        "AvgPool2d(3, 2, 1, False, False)": [image],
        "AdaptiveAvgPool2d((2, 3))": [image],
        "AdaptiveAvgPool2d(1)": [image],
        "BatchNorm1d(3)": [(4, 3), (4, 3, 5)],
        "BatchNorm1d(3, eps=0.1, momentum=None, affine=False)": [(4, 3)],
        "BatchNorm2d(4)": [image],
        "BatchNorm2d(4, momentum=0.5, bias=False)": [image],
        "BatchNorm2d(4, track_running_stats=False)": [image],
        "BatchNorm1d(3).eval()": [(4, 3)],
        "LayerNorm(3)": [(2, 3), (2, 5, 3)],
        "LayerNorm((2, 3), bias=False)": [(4, 2, 3)],
        "LayerNorm([2, 3], elementwise_affine=False)": [(4, 2, 3)],
        "GroupNorm(2, 4)": [image],
        "RMSNorm(3)": [(2, 3)],
        "Embedding(5, 3)": [((2, 4), "int"), ((), "int")],
        "Embedding(5, 16, padding_idx=-2)": [((2, 4), "int")],
        "Embedding(50, 7)": [((9,), "int")],
        "Embedding.from_pretrained(mt.ones(5, 2), padding_idx=1)": [((2, 4), "int")],
        "Flatten()": [image],
        "Flatten(0, 1)": [image],
        "Unflatten(1, (2, 2))": [image],
        "Unfold(2)": [image],
        "Fold((4, 4), (2, 2))": [(2, 8, 9)],
        "Softmax()": [(2, 3)],
        "Softmax2d()": [image],
        "PairwiseDistance()": [(2, 3), (2, 3)],
        "CosineSimilarity()": [(2, 3), (2, 3)],
        "Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1), nn.Flatten(0))": [(2, 3)],
        "RNNCell(3, 4)": [(2, 3), (3,)],
        "RNNCell(3, 4, bias=False, nonlinearity='relu')": [(2, 3)],
        "LSTMCell(3, 4)": [(2, 3), (3,)],
        "GRUCell(3, 4)": [(2, 3), (3,)],
    }
    for kind in ("RNN", "LSTM", "GRU"):
        inputs[f"{kind}(3, 4)"] = [words, (5, 3)]
        inputs[f"{kind}(3, 4, num_layers=2, bidirectional=True)"] = [words]
        inputs[f"{kind}(3, 4, num_layers=2, bias=False, batch_first=True)"] = [words, (5, 3)]
        inputs[f"{kind}(3, 4, num_layers=3, dropout=0.4).eval()"] = [words]
        inputs[f"{kind}(3, 4, dtype=mt.float64)"] = [(words, "float64")]
    inputs["RNN(3, 4, 1, 'relu')"] = [words]
    for name in ("ReLU", "SiLU", "Mish", "SELU", "Hardswish", "Hardsigmoid", "ELU", "CELU", "LeakyReLU", "Hardtanh"):
        inputs[f"{name}()"] = inputs[f"{name}(inplace=True)"] = [(2, 3)]
    for name in ("Softplus", "GELU", "Sigmoid", "Tanh", "LogSigmoid", "Softsign", "Tanhshrink", "Dropout(0.0)"):
        inputs[f"{name.removesuffix('(0.0)')}({'0.0' if '(' in name else ''})"] = [(2, 3)]
    inputs |= {
        "ReLU6()": [(2, 3)],
        "ReLU6(inplace=True)": [(2, 3)],
        "ELU(2.0)": [(2, 3)],
        "CELU(2.0)": [(2, 3)],
        "PReLU()": [(2, 3), (3,)],
        "PReLU(3, init=0.1)": [(2, 3), (2, 3, 4)],
        "Hardshrink()": [(2, 3)],
        "Softshrink(0.2)": [(2, 3)],
        "Threshold(0.1, 20.0)": [(2, 3)],
        "Threshold(threshold=0.1, value=-1, inplace=True)": [(2, 3)],
        "LeakyReLU(0.2)": [(2, 3)],
        "Hardtanh(-2.0, 0.5)": [(2, 3)],
        "Softplus(2.0, 1.0)": [(2, 3)],
        "GELU('tanh')": [(2, 3)],
        "GLU()": [(2, 4)],
        "Softmax(1)": [(2, 3)],
        "LogSoftmax(dim=-1)": [(2, 3)],
        "Softmin(0)": [(2, 3)],
    }
    rows = [Row(module, (one,)) for module, ones in inputs.items() for one in ones if "Distance" not in module]
    rows = [row for row in rows if "Similarity" not in row.module]
    pair, triple = ((3, 4), (3, 4)), ((3, 4), (3, 4), (3, 4))
    classes, signs = ((3, 4), ((3,), "int4")), ((3,), "sign")
    for losses, given in (
        ("L1Loss() MSELoss() MSELoss(reduction='sum') MSELoss(reduction='none') SmoothL1Loss()", pair),
        ("SmoothL1Loss(beta=0.5) HuberLoss() HuberLoss('sum',2.0) PairwiseDistance() CosineSimilarity()", pair),
        ("Bilinear(4,4,2) Bilinear(4,4,2,False)", pair),
        ("BCEWithLogitsLoss() BCEWithLogitsLoss(pos_weight=mt.ones(4)*2) MSELoss(size_average=False)", pair),
        ("MSELoss(reduce=False) L1Loss(True,True)", pair),
        ("BCELoss() KLDivLoss(reduction='batchmean') KLDivLoss(log_target=True)", (((3, 4), "chance"),) * 2),
        ("CrossEntropyLoss() CrossEntropyLoss(mt.ones(4)*2,label_smoothing=0.1) NLLLoss(ignore_index=1)", classes),
        ("HingeEmbeddingLoss() HingeEmbeddingLoss(2.0)", ((3,), signs)),
        ("CosineEmbeddingLoss(0.1)", ((3, 4), (3, 4), signs)),
        ("MarginRankingLoss(0.5)", ((3,), (3,), signs)),
        ("TripletMarginLoss() TripletMarginLoss(swap=True,p=1.0)", triple),
    ):
        rows += [Row(loss, tuple(given)) for loss in losses.split()]
    return rows


ROWS = _rows()


def made(mt: Any, row: Row) -> Any:
    """The module of a row, from one seed."""
    mt.manual_seed(0)
    return eval(f"nn.{row.module}", {"mt": mt, "nn": mt.nn})


def inputs(mt: Any, row: Row) -> list[Any]:
    """The inputs of a row; those that can, require grad."""
    random = np.random.default_rng(7)
    found = []
    for one in row.inputs:
        shape, kind = one if one and isinstance(one[-1], str) else (one, "float32")
        values = random.normal(size=shape)
        if kind.startswith("int"):
            found.append(mt.tensor(random.integers(0, int(kind[3:] or 5), shape)))
        elif kind == "sign":
            found.append(mt.tensor(np.sign(values).astype(np.float32)))
        elif kind == "chance":
            found.append(mt.tensor(random.uniform(0.1, 0.9, shape).astype(np.float32), requires_grad=True))
        else:
            found.append(mt.tensor(values.astype(kind), requires_grad=True))
    return found
