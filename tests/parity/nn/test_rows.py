"""Every module and option: the initial weights to the bit, the text, the state, the values and the gradients."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import microtape
from tests.parity.nn.rows import ROWS, Row, inputs, made
from tests.parity.observe import as_microtape, same


def tensors(result: Any) -> list[Any]:
    """The tensors in nested tuples."""
    return [one for part in result for one in tensors(part)] if isinstance(result, tuple) else [result]


def state(module: Any) -> dict[str, np.ndarray]:
    return {key: np.array(value.detach().numpy()) for key, value in module.state_dict().items()}


def observed(mt: Any, row: Row) -> list[Any]:
    """What a program sees of a module: outputs in two calls, gradients of inputs and parameters, the state."""
    module, given = made(mt, row), inputs(mt, row)
    results = []
    for _ in range(2):
        warm = [one * 1 if "inplace" in row.module else one for one in given]
        outputs = tensors(module(*warm))
        results += [(np.array(one.detach().numpy()), one.requires_grad, tuple(one.shape)) for one in outputs]
    loss = sum((one * one.detach().cos()).sum() for one in outputs)
    if loss.requires_grad:
        loss.backward()
    leaves = [*given, *module.parameters()]
    results += [None if one.grad is None else np.array(one.grad.numpy()) for one in leaves]
    return [*results, state(module), module.training]


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_a_module_does_what_it_does_in_torch(row: Row) -> None:
    import torch

    with warnings.catch_warnings(action="ignore"):
        theirs, ours = made(torch, row), made(microtape, row)
        before, after = state(theirs), state(ours)
        assert as_microtape(repr(theirs)) == repr(ours)
        assert list(before) == list(after)
        for key, values in before.items():
            assert after[key].dtype == values.dtype
            np.testing.assert_array_equal(after[key], values)
        assert [name for name, _ in theirs.named_parameters()] == [name for name, _ in ours.named_parameters()]
        expected, found = observed(torch, row), observed(microtape, row)
    for one, other in zip(expected, found, strict=True):
        assert same(one, other), f"torch {one!r}\nmicrotape {other!r}"


def reached(node: Any) -> list[Any]:
    """The name of a node and, in turn, of the nodes that it leads to."""
    return [node.name(), *[reached(receiver) for receiver, _ in node.next_functions if receiver is not None]]


@pytest.mark.parametrize("kind", ["RNNCell", "LSTMCell", "GRUCell"])
def test_the_graph_of_a_cell_has_the_nodes_of_torch(kind: str) -> None:
    import torch

    graphs = []
    for mt in (torch, microtape):
        state = getattr(mt.nn, kind)(3, 4)(mt.ones(2, 3))
        graphs.append([reached(one.grad_fn) for one in tensors(state)])
    assert graphs[0] == graphs[1]


@pytest.mark.parametrize("kind", ["Linear", "Conv2d", "LSTM", "Embedding", "float64"])
@pytest.mark.parametrize("size", [1, 2, 5, 16, 17, 100])
def test_weights_of_every_size_are_torchs_to_the_bit(kind: str, size: int) -> None:
    import torch

    text = {"Conv2d": f"Conv2d({size}, 7, 3)", "float64": f"Linear(7, {size}, dtype=mt.float64)"}
    row = Row(text.get(kind, f"{kind}({size}, 7)"), ())
    for key, values in state(made(torch, row)).items():
        np.testing.assert_array_equal(state(made(microtape, row))[key], values)


def test_dropout_between_layers_draws_torchs_numbers() -> None:
    import torch

    row = Row("LSTM(3, 64, num_layers=2, dropout=0.5)", ((4, 8, 3),))
    zeros = []
    for mt in (torch, microtape):
        module, (given,) = made(mt, row), inputs(mt, row)
        mt.manual_seed(1)
        zeros.append(np.array(module(given)[0].detach().numpy()))
    np.testing.assert_allclose(zeros[1], zeros[0], rtol=1e-4, atol=1e-5)
