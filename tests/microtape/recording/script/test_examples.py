"""The bundled examples: each is recorded as it stands, and says the same on torch."""

from __future__ import annotations

import os
import runpy
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import microtape
from microtape.recording.file.tape_file import load
from microtape.recording.findings import findings
from microtape.recording.model.calls import CallKind, CallRecord, FunctionRecord
from microtape.recording.model.model import BackwardStep, Recording
from microtape.recording.script.run import record_script

FOLDER = Path(microtape.__file__).parent / "examples"
EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.py"))
WITH_MODULES = sorted(path.stem for path in (FOLDER / "modules").glob("*.py"))
ON_TORCH = sorted((FOLDER / "pytorch").glob("*.py"))
FAILING = {"in_place_error": "ModifiedInPlaceError"}


def recorded(name: str, folder: Path, **options: Any) -> Recording:
    ended = record_script(FOLDER / f"{name}.py", out=folder / "run.tape", **options)
    assert ended[1:3] == (1 if name in FAILING else 0, None)
    return load(folder / "run.tape")


def tensor_values(recording: Recording, name: str) -> list[Any]:
    (tensor,) = [tensor for tensor in recording.tensors if name in tensor.names]
    return [tensor.values[version] for version in sorted(tensor.values)]


def test_there_are_the_ones_that_the_documentation_promises() -> None:
    promised = {"diamond", "mlp", "rnn", "gradient_penalty", "in_place_error", "nan_gradient", "training"}
    functions = {"linear", "mul_constant", "several_outputs", "dirty", "returned_view", "wrong_function"}
    assert promised | functions | {"example", "clip_hooks", "checkpointed"} == set(EXAMPLES)
    assert WITH_MODULES == ["adversaries", "attention", "autoencoder", "classifier", "images", "letters"]


@pytest.mark.parametrize("name", [*EXAMPLES, *(f"modules/{name}" for name in WITH_MODULES)])
def test_an_example_is_short_and_starts_with_its_import(name: str) -> None:
    lines = (FOLDER / f"{name}.py").read_text().splitlines()
    assert lines[0] == "import microtape as mt"
    assert name == "example" or any("Look at:" in line for line in lines)  # the README explains that one
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 60


@pytest.mark.parametrize("path", ON_TORCH, ids=lambda path: path.stem)
def test_an_example_on_torch_is_as_short(path: Path) -> None:
    lines = path.read_text().splitlines()
    assert lines[0] == "import torch"
    assert any("Look at:" in line for line in lines)
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 60


@pytest.mark.parity
@pytest.mark.parametrize("path", ON_TORCH, ids=lambda path: path.stem)
def test_nothing_is_wrong_with_an_example_on_torch(path: Path, tmp_path: Path) -> None:
    assert record_script(path, out=tmp_path / "run.tape", passes="all")[1:3] == (0, None)
    assert [one for one in findings(load(tmp_path / "run.tape")) if one.severity != "notice"] == []


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_recorded(name: str, tmp_path: Path) -> None:
    recording = recorded(name, tmp_path)
    assert [one.error and one.error.type for one in recording.passes][-1] == FAILING.get(name)
    leaves = [one for one in recording.tensors if one.is_leaf and one.requires_grad]
    assert all(one.name for one in leaves if one.base is None)  # in a Function's forward, a view of a leaf is one, too
    assert list(recording.sources) == [f"{name}.py"]


def test_the_diamonds_gradients_meet(tmp_path: Path) -> None:
    recording = recorded("diamond", tmp_path)
    ends = {recording.label(step.node): step.grad_after for _, step in recording.steps() if step.grad_after is not None}
    assert ends == {"x": 16, "y": 21}
    assert {recording.label(node): count for node, count in recording.passes[0].dependencies.items()} == {
        "x": 2, "y": 2, "product": 1, "total": 1, "z": 0,
    }  # fmt: skip


def test_the_rnns_gradient_vanishes(tmp_path: Path) -> None:
    recording = recorded("rnn", tmp_path)
    tanh = [step for _, step in recording.steps() if recording.nodes[step.node].op == "tanh"]
    sizes = [np.abs(step.grad_outputs[0]).max() for step in tanh]
    assert len(sizes) == 20
    assert sizes[-1] < 1e-6 * sizes[0]
    (terms,) = [count for node, count in recording.passes[0].dependencies.items() if recording.label(node) == "W_state"]
    assert terms == 20


def test_the_penalty_walks_back_through_what_the_first_pass_recorded(tmp_path: Path) -> None:
    first, second = recorded("gradient_penalty", tmp_path).passes
    assert (first.kind, second.kind) == ("grad", "backward")
    made = {node for step in first.steps for node in step.made}
    assert made & {step.node for step in second.steps}


def contract(recording: Recording) -> FunctionRecord:
    """What the only Function of a program promised."""
    (function,) = recording.functions
    return function


def step_of(recording: Recording, name: str) -> BackwardStep:
    """The only step of the nodes of that name."""
    (step,) = [step for _, step in recording.steps() if recording.nodes[step.node].name == name]
    return step


def calls(recording: Recording, kind: CallKind) -> list[CallRecord]:
    """The calls of that kind, in order."""
    return [call for call in recording.calls if call.kind == kind]


def test_nothing_comes_back_through_the_mask(tmp_path: Path) -> None:
    recording = recorded("several_outputs", tmp_path)
    assert [(output.name, output.role, output.reason) for output in contract(recording).outputs] == [
        ("", "differentiable", ""),
        ("inside", "non-differentiable", "mark_non_differentiable"),
    ]
    through_clipped, through_inside = step_of(recording, "ClipBackward").grad_outputs
    assert np.any(through_clipped)
    assert through_inside.tolist() == [0, 0, 0, 0]


def test_the_dirty_tensor_has_a_new_version_and_new_numbers(tmp_path: Path) -> None:
    recording = recorded("dirty", tmp_path)
    (output,) = contract(recording).outputs
    assert (output.role, output.argument) == ("dirty", 0)
    first, *_, last = tensor_values(recording, "hidden")
    np.testing.assert_allclose(last, np.where(first > 0, 1, 0.1) * first, rtol=1e-6)


def test_the_crop_is_a_view_of_the_image(tmp_path: Path) -> None:
    recording = recorded("returned_view", tmp_path)
    (output,) = contract(recording).outputs
    assert (output.role, output.argument) == ("view", 0)


def test_finite_differences_contradict_the_wrong_function_alone(tmp_path: Path) -> None:
    recording = recorded("wrong_function", tmp_path, check="functions")
    assert {recording.nodes[one.node].name for one in recording.checks if not one.agrees} == {"SoftmaxBackward"}


def test_the_hooks_clip_on_the_way_and_at_the_end(tmp_path: Path) -> None:
    recording = recorded("clip_hooks", tmp_path)
    assert [call.name for call in calls(recording, "tensor hook")] == ["clip_value"] * 3
    assert [call.name for call in calls(recording, "post-accumulate hook")] == ["clip_norm"]
    (grad,) = [step.grad_after for _, step in recording.steps() if step.grad_after is not None]
    np.testing.assert_allclose(np.sqrt((grad**2).sum()), 1, rtol=1e-6)


def test_the_checkpoint_computes_its_block_again(tmp_path: Path) -> None:
    (again,) = calls(recorded("checkpointed", tmp_path), "recomputation")
    assert [step.op for step in again.steps if step.kind == "operation"] == ["matmul", "tanh", "matmul"]


def test_the_nan_comes_from_the_root_of_zero(tmp_path: Path) -> None:
    recording = recorded("nan_gradient", tmp_path)
    first_inf, then_nan = [step for _, step in recording.steps() if not np.all(np.isfinite(step.grad_inputs))][:2]
    assert recording.nodes[first_inf.node].op == "sqrt"
    assert np.isinf(first_inf.grad_inputs[0])
    assert recording.nodes[then_nan.node].op in {"sum", "pow"}


def test_training_goes_well(tmp_path: Path) -> None:
    recording = recorded("mlp", tmp_path, passes="301")
    assert [one.index for one in recording.passes] == [300]
    assert 0 < tensor_values(recording, "loss")[0] < 0.2


@pytest.mark.parity
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_says_the_same_on_torch(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if os.environ.get("MICROTAPE_REQUIRE_TORCH") != "1":  # with it, a missing torch is a failure
        pytest.importorskip("torch")
    text = (FOLDER / f"{name}.py").read_text()
    (tmp_path / f"{name}.py").write_text(text.replace("import microtape as mt", "import torch as mt", 1))
    ours, theirs = (run(path, capsys) for path in (FOLDER / f"{name}.py", tmp_path / f"{name}.py"))
    assert ours["printed"] == theirs["printed"]
    assert ours["raised"] == theirs["raised"]
    assert ours["grads"].keys() == theirs["grads"].keys()
    for variable, grad in ours["grads"].items():
        np.testing.assert_allclose(grad, theirs["grads"][variable], rtol=1e-4, atol=1e-6, err_msg=variable)


def run(path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What a program prints, whether it raises, and the gradients that its variables have in the end."""
    before = {"grads": {}, "raised": False, "printed": ""}
    variables: dict[str, Any] = {}
    try:
        variables = runpy.run_path(os.fspath(path), run_name="__main__")
    except RuntimeError as error:
        before["raised"] = str(error).partition(", which is output")[0].replace("microtape.", "torch.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # both warn when the .grad of a tensor that is no leaf is looked at
        grads = {name: getattr(value, "grad", None) for name, value in variables.items()}
    return before | {
        "printed": capsys.readouterr().out,
        "grads": {name: grad.detach().numpy() for name, grad in grads.items() if grad is not None},
    }
