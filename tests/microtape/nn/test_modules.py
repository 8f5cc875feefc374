"""Modules without torch: what they register, how they are called, that their values are those of the formulas."""

from __future__ import annotations

import copy
import math
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microtape as mt
from microtape import nn
from microtape.nn.module import Module


def submodules(module: type[Module]) -> Iterator[type[Module]]:
    for one in module.__subclasses__():
        yield one
        yield from submodules(one)


def test_the_namespace_has_every_public_module() -> None:
    made = {one.__name__ for one in submodules(Module) if one.__module__.startswith("microtape.")}
    public = {name for name in made if not name.startswith("_") and name not in ("FunctionModule", "Recurrent")}
    assert public <= set(nn.__all__)
    assert all(getattr(nn, name).__doc__ for name in public)


def test_what_is_not_here_says_so_in_one_line() -> None:
    for name in ("Transformer", "MultiheadAttention", "LazyLinear", "UninitializedParameter"):
        with pytest.raises(AttributeError, match=f"no attribute '{name}': it is not here; run the program on PyTorch"):
            getattr(nn, name)
    with pytest.raises(NotImplementedError, match="--engine torch"):
        nn.LSTM(2, 3, proj_size=1)
    with pytest.raises(NotImplementedError, match="--engine torch"):
        nn.Embedding(2, 3, sparse=True)
    with pytest.raises(NotImplementedError, match="use register_full_backward_hook"):
        nn.ReLU().register_backward_hook(print)
    with pytest.raises(TypeError, match="packed sequences are not here"):
        nn.GRU(2, 3)([mt.ones(2, 2)])
    with pytest.raises(RuntimeError, match="there is no device but the cpu here"):
        nn.ReLU().cuda()


def test_importing_microtape_imports_no_module() -> None:
    program = "import sys, microtape; print('microtape.nn' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"


def test_a_parameter_is_a_leaf_and_its_results_are_plain_tensors() -> None:
    parameter = nn.Parameter(mt.ones(2))
    assert repr(parameter) == "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
    assert [type(one) for one in (parameter * 2, parameter.detach(), parameter[0], parameter.data)] == [mt.Tensor] * 4
    assert isinstance(copy.deepcopy(parameter), nn.Parameter)
    with pytest.raises(TypeError, match=r"takes a tensor, not list: Parameter\(microtape.tensor"):
        nn.Parameter([1.0])

    class Named(nn.Parameter):
        pass

    assert type(Named(mt.ones(1)) + 1) is mt.Tensor


@given(st.integers(1, 5), st.integers(1, 5), st.booleans())
def test_a_linear_layer_is_a_product_and_a_sum(inputs: int, outputs: int, bias: bool) -> None:
    layer = nn.Linear(inputs, outputs, bias)
    x = mt.ones(3, inputs)
    expected = x.numpy() @ layer.weight.detach().numpy().T + (layer.bias.detach().numpy() if bias else 0)
    np.testing.assert_allclose(layer(x).detach().numpy(), expected, rtol=1e-5, atol=1e-6)
    assert layer.weight.abs().max().item() <= 1 / math.sqrt(inputs) + 1e-6


def test_from_one_seed_come_the_same_weights() -> None:
    mt.manual_seed(0)
    layer = nn.Linear(2, 1)
    assert [one.hex() for one in layer.weight.flatten().tolist()] == ["-0x1.5af2440000000p-8", "0x1.846d380000000p-2"]
    embedding = nn.Embedding(4, 4)
    assert embedding.weight[0, 0].item().hex() == "-0x1.bc4aba0000000p-2"


@pytest.mark.parametrize("kind", [nn.RNN, nn.LSTM, nn.GRU])
def test_a_layer_does_what_its_cell_does_step_by_step(kind: type[Module]) -> None:
    layer = kind(3, 4)
    cell = {nn.RNN: nn.RNNCell, nn.LSTM: nn.LSTMCell, nn.GRU: nn.GRUCell}[kind](3, 4)
    cell.load_state_dict({key.removesuffix("_l0"): value for key, value in layer.state_dict().items()})
    x, state = mt.randn(5, 2, 3), None
    outputs, _ = layer(x)
    for step, output in zip(x, outputs, strict=True):
        state = cell(step, state)
        hidden = state[0] if kind is nn.LSTM else state
        np.testing.assert_allclose(hidden.detach().numpy(), output.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_batch_norm_follows_the_batches() -> None:
    norm = nn.BatchNorm1d(2, momentum=None)
    batches = [mt.randn(5, 2) * 3 + 1 for _ in range(3)]
    for batch in batches:
        assert abs(norm(batch).mean().item()) < 1e-5
    np.testing.assert_allclose(norm.running_mean.numpy(), mt.stack(batches).mean((0, 1)).numpy(), rtol=1e-5, atol=1e-6)
    assert norm.num_batches_tracked.item() == 3
    before = norm.state_dict()["running_mean"].clone()
    norm.eval()(batches[0])
    assert before.equal(norm.running_mean)


def test_state_goes_through_a_numpy_file(tmp_path) -> None:
    net, other = (nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)) for _ in range(2))
    np.savez(tmp_path / "weights.npz", **{key: value.numpy() for key, value in net.state_dict().items()})
    with np.load(tmp_path / "weights.npz") as arrays:
        result = other.load_state_dict({key: mt.from_numpy(arrays[key]) for key in arrays})
    assert str(result) == "<All keys matched successfully>"
    assert other[0].weight.equal(net[0].weight)


def test_hooks_run_in_their_order_and_can_be_removed() -> None:
    layer, ran = nn.Linear(2, 2), []
    handles = [
        layer.register_forward_pre_hook(lambda *given: ran.append("before")),
        layer.register_forward_hook(lambda *given: ran.append("after")),
        layer.register_full_backward_pre_hook(lambda *given: ran.append("outputs")),
        layer.register_full_backward_hook(lambda *given: ran.append("inputs")),
    ]
    x = mt.ones(1, 2, requires_grad=True)
    layer(x).sum().backward()
    assert ran == ["before", "after", "outputs", "inputs"]
    for handle in handles:
        handle.remove()
    layer(x).sum().backward()
    assert len(ran) == 4
