"""A recorded program computes what it computes by itself, to the bit, and its recording is whole."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

from microtape import save
from tests.parity.pytorch.watching import replaced

PROGRAMS = Path(__file__).parent / "programs"
HELPERS = ("leaf", "trained", "gradients_of")
NAMES = [
    (module, one.name)
    for module in ("undisturbed", "surroundings", "rare_features", "user_loops", "user_functions")
    for one in ast.parse((PROGRAMS / f"{module}.py").read_text(encoding="utf-8")).body
    if isinstance(one, ast.FunctionDef) and one.name not in HELPERS and not one.name.startswith("_")
]


def flat(value, torch):
    if isinstance(value, torch.Tensor):
        return [value.detach()]
    if isinstance(value, list | tuple):
        return [one for part in value for one in flat(part, torch)]
    return [value]


def equal(a, b, torch):
    if not isinstance(a, torch.Tensor):
        return a == b
    same = (a.dtype, a.shape, a.stride()) == (b.dtype, b.shape, b.stride())
    return same and bool(torch.all((a == b) | (a.isnan() & b.isnan())))


def run(program, torch):
    torch.manual_seed(0)
    found = flat(program(), torch)
    return found, torch.get_rng_state()


@pytest.mark.filterwarnings("ignore")  # checkpoints and hooks warn with and without the recorder
@pytest.mark.parametrize("check", [None, "all"])
@pytest.mark.parametrize(("module", "name"), NAMES)
def test_a_recorded_program_computes_the_same(torch, module, name, check, tmp_path):
    from microtape.recording.file.integrity import check_integrity
    from microtape.recording.findings import findings
    from microtape.recording.pytorch.recorder import TorchRecorder

    program = getattr(importlib.import_module(f"tests.parity.pytorch.programs.{module}"), name)
    plain, state = run(program, torch)
    before = replaced()
    with TorchRecorder(check=check) as recorder:
        recorded, state_after = run(program, torch)
    assert replaced() == before
    assert len(plain) == len(recorded)
    assert all(equal(a, b, torch) for a, b in zip(plain, recorded, strict=True))
    assert torch.equal(state, state_after)
    recording = recorder.recording
    assert module != "surroundings" or any(one.steps for one in recording.passes)
    assert recording.faults == ()
    check_integrity(recording)
    save(recording, tmp_path / "run.tape")
    for finding in findings(recording):
        assert finding.headline


@pytest.mark.filterwarnings("ignore")
def test_a_compiled_region_is_one_node(torch):
    from microtape.recording.pytorch.recorder import TorchRecorder
    from tests.parity.pytorch.programs.surroundings import compiled_by_aot_eager

    with TorchRecorder() as recorder:
        compiled_by_aot_eager()
    recording = recorder.recording
    for one in recording.passes:
        names = [recording.nodes[step.node].name for step in one.steps]
        assert names[:3] == ["SumBackward0", "PowBackward0", "CompiledFunctionBackward"]
        assert set(names[3:]) == {"AccumulateGrad"}
        assert all(step.grad_outputs[0] is not None for step in one.steps)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["compiled_by_eager", "a_compiled_step", "compiled_code_with_breaks"])
def test_code_that_a_compiler_has_written_is_no_line_of_the_program(torch, name):
    from microtape.recording.pytorch.recorder import TorchRecorder
    from tests.parity.pytorch.programs import surroundings

    with TorchRecorder() as recorder:
        getattr(surroundings, name)()
    files = {node.place.file for node in recorder.recording.nodes if node.place is not None}
    assert {Path(file).name for file in files} == {"surroundings.py"}


def test_an_interrupted_pass_is_recorded_up_to_there(torch):
    from microtape.recording.pytorch.recorder import TorchRecorder
    from tests.parity.pytorch.programs.surroundings import interrupted_passes

    with TorchRecorder() as recorder:
        interrupted_passes()
    recording = recorder.recording
    errors = [one.error.type if one.error is not None else None for one in recording.passes]
    assert errors == ["KeyboardInterrupt", "SystemExit", "MemoryError", None]
    for one in recording.passes[:3]:
        names = [recording.nodes[step.node].name for step in one.steps]
        assert names == ["SumBackward0", "MulBackward0", "InterruptingBackward"]
        assert one.steps[-1].error is not None
