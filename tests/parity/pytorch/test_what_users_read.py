"""What users read of a program on PyTorch: the functions that they called, their own names, the modules, all values."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest

from microtape.recording.model.model import NodeRecord, Recording
from tests.parity.pytorch.watching import torch_since


def recorded(run: Callable[[Any], object]) -> Recording:
    import torch

    from microtape.recording.pytorch.recorder import TorchRecorder

    torch.manual_seed(0)
    recorder = TorchRecorder()
    with recorder:
        run(torch)
    return recorder.recording


def named(recording: Recording, op: str) -> list[NodeRecord]:
    return [one for one in recording.nodes if one.op == op]


def test_a_result_has_the_name_of_the_function_that_was_called_and_the_node_that_of_torch() -> None:
    def run(torch: Any) -> None:
        x = torch.randn(2, 3, 4, requires_grad=True)
        h = torch.nn.functional.layer_norm(torch.nn.functional.linear(x, torch.randn(4, 4)), (4,))
        torch.nn.functional.cross_entropy((h @ torch.randn(4, 5)).reshape(-1, 5), torch.zeros(6, dtype=int)).backward()

    recording = recorded(run)
    names = {op: [one.name for one in named(recording, op)] for op in ("layer_norm", "cross_entropy", "reshape")}
    assert names["layer_norm"] == ["NativeLayerNormBackward0"]
    assert names["cross_entropy"] == ["NllLossBackward0"]
    assert len(named(recording, "linear")) == len(named(recording, "matmul")) == 1
    assert not [one.op for one in recording.nodes if one.op.startswith(("native", "unsafe", "_"))]


def test_an_operator_keeps_the_name_of_its_node() -> None:
    def run(torch: Any) -> None:
        x = torch.randn(3, requires_grad=True)
        y = (1 - x)[1:] * 2
        y += 1
        y.sum().backward()

    ops = [one.op for one in recorded(run).nodes if one.variable is None]
    assert ops == ["rsub", "slice", "mul", "add", "sum"]


def test_the_nodes_that_backward_made_are_not_named_after_the_call_of_grad() -> None:
    def run(torch: Any) -> None:
        x = torch.randn(3, requires_grad=True)
        (slope,) = torch.autograd.grad(x.exp().sum(), x, create_graph=True)
        slope.sum().backward()

    assert not named(recorded(run), "grad")


def test_a_batch_has_its_name() -> None:
    def run(torch: Any) -> None:
        weights, batch = torch.randn(3, requires_grad=True), torch.randn(3)
        (weights - batch).sum().backward()

    (node,) = named(recording := recorded(run), "sub")
    assert [recording.tensors[one.ref.tensor].name for one in node.operands if one.ref] == ["weights", "batch"]


def test_layers_that_torch_does_not_know_have_names() -> None:
    def run(torch: Any) -> None:
        class Net(torch.nn.Module):  # type: ignore[misc, name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.layers = [torch.nn.Linear(2, 2)]

        net = Net()
        net.layers[0](torch.ones(2)).sum().backward()

    names = {one.name for one in recorded(run).tensors if one.is_leaf and one.requires_grad}
    assert names == {"net.layers[0].weight", "net.layers[0].bias"}


def test_modules_of_torch_are_called_by_their_variable_and_their_kind() -> None:
    def run(torch: Any) -> None:
        encoder = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Sequential(torch.nn.Tanh()))
        encoder(torch.ones(2)).sum().backward()

    assert [one.name for one in recorded(run).scopes] == ["encoder", "0 Linear", "1 Sequential", "0 Tanh"]


def test_the_values_inside_of_a_call_are_known_where_they_follow() -> None:
    def run(torch: Any) -> None:
        layer = torch.nn.Linear(3, 2)
        layer(torch.randn(4, 5, 3)).sum().backward()

    (inner,) = named(recording := recorded(run), "addmm")
    (outer,) = named(recording, "linear")
    if not torch_since("2.5"):
        pytest.skip("a node does not tell the shapes of its outputs")
    assert inner.outputs[0] is not None
    assert outer.outputs[0] is not None
    inside, result = recording.value(inner.outputs[0]), recording.value(outer.outputs[0])
    assert isinstance(inside, np.ndarray)
    assert isinstance(result, np.ndarray)
    assert inside.shape == (20, 2)
    assert inside.tobytes() == result.tobytes()


def test_retain_grad_and_a_requested_input_that_is_not_reached_are_shown() -> None:
    def run(torch: Any) -> None:
        x, unused = torch.randn(3, requires_grad=True), torch.ones(2, requires_grad=True)
        hidden = x * x
        hidden.retain_grad()
        torch.autograd.grad(hidden.sum(), [x, unused], allow_unused=True)

    recording = recorded(run)
    (pass_,) = recording.passes
    captured = recording.tensors[pass_.captures[1].tensor]
    assert (captured.name, captured.node is None) == ("unused", False)
    assert [call.kind for step in pass_.steps for call in step.hooks] == ["retain_grad"]


def warned(torch: Any, repeat: int) -> None:
    net, x = torch.nn.Linear(2, 1), torch.ones(4, 2)
    for _ in range(repeat):
        torch.nn.functional.mse_loss(net(x), torch.ones(4))
        torch.nn.MSELoss()(net(x), torch.ones(4)).backward()
    with torch.autograd.set_detect_anomaly(True):
        y = (torch.zeros(1, requires_grad=True) * 0).sqrt() * 0
        with contextlib.suppress(RuntimeError):
            y.backward()


@pytest.mark.parametrize("action", ["always", "default", "once", "ignore"])
def test_a_warning_names_the_users_line_as_often_as_without_a_recorder(
    action: Literal["always", "default", "once", "ignore"],
) -> None:
    import torch

    def heard(run: Callable[[Callable[[Any], object]], object]) -> list[warnings.WarningMessage]:
        globals().pop("__warningregistry__", None)
        torch.nn.modules.loss.__dict__.pop("__warningregistry__", None)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter(action)
            run(lambda torch: warned(torch, 3))
        return [one for one in found if "size" in str(one.message) or "Sqrt" in str(one.message)]

    plain, ours = heard(lambda program: program(torch)), heard(recorded)
    if action != "once":  # which is once for each module, and torch's line in a loss is the user's here
        assert [str(one.message)[:20] for one in ours] == [str(one.message)[:20] for one in plain]
    assert {one.filename for one in ours} <= {__file__}
    first = warned.__code__.co_firstlineno
    assert {one.lineno - first for one in ours} == {"once": {3, 8}, "ignore": set()}.get(action, {3, 4, 8})


def test_a_warning_that_is_an_error_is_one() -> None:
    def run(torch: Any) -> None:
        with pytest.raises(UserWarning, match="target size"):
            torch.nn.functional.mse_loss(torch.ones(4, 1, requires_grad=True), torch.ones(4))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recorded(run)


def test_a_leaf_that_is_the_root_of_a_pass_has_its_value_in_its_row() -> None:
    from tui.time.cursor import StepCursor
    from tui.time.row_texts import RowTexts
    from tui.time.timeline import Timeline

    recording = recorded(lambda torch: torch.ones(3, requires_grad=True).sum().detach().requires_grad_().backward())
    rows = RowTexts(Timeline(recording, 0))
    leaf = recording.passes[0].steps[0].node
    assert rows.value(StepCursor(rows.timeline, rows.timeline.last), leaf, 10) == "3"
