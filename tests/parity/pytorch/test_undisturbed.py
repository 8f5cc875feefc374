"""A recorded program computes what it computes by itself, to the bit, and its recording is whole."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("undisturbed.py").read_text(encoding="utf-8")
NAMES = [one.name for one in ast.parse(SOURCE).body if isinstance(one, ast.FunctionDef) and one.name != "leaf"]


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


def replaced(torch):
    """What a recorder replaces while it watches."""
    function = torch.autograd.function
    owners = function.BackwardCFunction, function.FunctionCtx, torch.autograd.graph.saved_tensors_hooks
    return (
        torch.autograd.Variable._execution_engine, torch.nn.Module.__call__, torch.autograd.Function.apply,
        *[dict(vars(one)) for one in owners], sys.gettrace(), torch._C._len_torch_function_stack(),
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore")  # checkpoints and hooks warn with and without the recorder
@pytest.mark.parametrize("check", [None, "all"])
@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_program_computes_the_same(torch, name, check):
    from microtape.recording.file.integrity import check_integrity
    from microtape.recording.findings import findings
    from microtape.recording.pytorch.recorder import TorchRecorder
    from tests.parity.pytorch import undisturbed

    program = getattr(undisturbed, name)
    plain, state = run(program, torch)
    before = replaced(torch)
    with TorchRecorder(check=check) as recorder:
        recorded, state_after = run(program, torch)
    assert replaced(torch) == before
    assert len(plain) == len(recorded)
    assert all(equal(a, b, torch) for a, b in zip(plain, recorded, strict=True))
    assert torch.equal(state, state_after)
    recording = recorder.recording
    assert recording.faults == ()
    check_integrity(recording)
    for finding in findings(recording):
        assert finding.headline
