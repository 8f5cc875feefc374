"""A norm over single numbers is told, with what its result is; a norm over more of them is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import findings
from tests.programs.corpus import faults_of, record_program

engines = pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=pytest.mark.parity)])
PROGRAM = """\
import {engine} as torch
F, nn = torch.nn.functional, torch.nn
torch.manual_seed(0)
x = torch.randn({shape}, requires_grad=True)
norm = {norm}
(norm(x * 2) - 1).pow(2).sum().backward()
"""


def told(folder: Path, engine: str, norm: str, shape: str) -> list[tuple[str, ...]]:
    path = folder / "train.py"
    path.write_text(PROGRAM.format(engine=engine, norm=norm, shape=shape))
    recording, _ = record_program(path)
    assert recording.error is None
    assert faults_of(recording) == []
    return [one.explanation for one in findings(recording) if one.kind == "zero gradient"]


@engines
@pytest.mark.parametrize(
    ("norm", "shape", "result"),
    [
        ("nn.LayerNorm(1)", "6, 1", "norm.bias alone"),
        ("nn.LayerNorm((1, 1))", "6, 3, 1, 1", "norm.bias alone"),
        ("nn.LayerNorm(1)", "6, 3, 1", "norm.bias alone"),
        ("nn.LayerNorm(1, bias=False)", "6, 1", "the same"),
        ("lambda h: F.layer_norm(h, (1,))", "6, 1", "the same"),
        ("nn.GroupNorm(4, 4)", "6, 4, 1, 1", "norm.bias alone"),
        ("nn.GroupNorm(4, 4, affine=False)", "6, 4", "the same"),
        ("lambda h: F.group_norm(h, 4)", "6, 4, 1", "the same"),
    ],
)
def test_a_norm_over_single_numbers(tmp_path: Path, engine: str, norm: str, shape: str, result: str) -> None:
    ((_, says),) = told(tmp_path, engine, norm, shape)
    assert says.startswith(f"So its result is {result}, ")


@engines
@pytest.mark.parametrize(
    ("norm", "shape"),
    [
        ("nn.LayerNorm(3)", "6, 3"),
        ("nn.LayerNorm((3, 1))", "6, 3, 1"),
        ("nn.LayerNorm(3)", "1, 3"),
        ("nn.LayerNorm(3)", "1, 1, 3"),
        ("nn.GroupNorm(4, 4)", "6, 4, 2, 1"),
        ("nn.GroupNorm(2, 4)", "6, 4, 1, 1"),
        ("nn.GroupNorm(1, 4)", "1, 4"),
        ("nn.BatchNorm1d(1)", "6, 1"),
        ("lambda h: F.normalize(h, dim=0)", "6, 1"),
    ],
)
def test_a_norm_over_several_numbers(tmp_path: Path, engine: str, norm: str, shape: str) -> None:
    assert told(tmp_path, engine, norm, shape) == []


@engines
@pytest.mark.parametrize(
    ("norm", "shape", "result"),
    [
        ("lambda h: 2 * h.softmax(-1)", "6, 1", 1),
        ("lambda h: h.log_softmax(0)", "1, 6", 0),
        ("lambda h: 2 * h.softmax(-1)", "5000, 1", 1),  # in the file, a summary
    ],
)
def test_a_softmax_of_single_numbers_is_constant(
    tmp_path: Path, engine: str, norm: str, shape: str, result: int
) -> None:
    (explanation,) = told(tmp_path, engine, norm, shape)
    assert f"It is taken over a dimension with a single number, so that it is always {result}." in explanation
