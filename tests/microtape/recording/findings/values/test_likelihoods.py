"""A rate for a logarithm and a variance of 0 are told; what is made otherwise, or has another purpose, is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import findings
from tests.programs.corpus import faults_of, record_program

pytestmark = pytest.mark.parity
PROGRAM = """\
import torch
F = torch.nn.functional
torch.manual_seed(0)
x = torch.nn.Linear(5, 1)(torch.randn(8, 5))
y = torch.arange(8.0)[:, None]
F.{call}.{reduced}().backward()
"""


def told(folder: Path, call: str, reduced: str = "sum") -> list[str]:
    path = folder / "train.py"
    path.write_text(PROGRAM.format(call=call, reduced=reduced))
    recording, _ = record_program(path)
    assert recording.error is None
    assert faults_of(recording) == []
    return [one.severity for one in findings(recording) if one.kind == "probabilities"]


@pytest.mark.parametrize(
    ("call", "severities"),
    [
        ("poisson_nll_loss(x.exp(), y)", ["warning"]),
        ("poisson_nll_loss(F.softplus(x).squeeze(1), y[:, 0], full=True)", ["warning"]),
        ("poisson_nll_loss(x.exp(), y, reduction='none')", ["warning"]),
        ("poisson_nll_loss(x.relu(), y)", ["notice"]),  # a logarithm above 0 is odd, but a logarithm
        ("poisson_nll_loss(x, y)", []),
        ("poisson_nll_loss(x.exp(), y, log_input=False)", []),
        ("poisson_nll_loss(F.softplus(x).log(), y)", []),
        ("poisson_nll_loss(x + x.exp(), y)", []),
        ("gaussian_nll_loss(x, y, x.relu())", ["warning"]),
        ("gaussian_nll_loss(x[:, 0], y[:, 0], x.relu().squeeze(1), reduction='none')", ["warning"]),
        ("gaussian_nll_loss(x, y, x.relu() + 1e-3)", []),
        ("gaussian_nll_loss(x, y, (x + 100).relu())", []),
        ("gaussian_nll_loss(x, y, F.softplus(x))", []),
        ("gaussian_nll_loss(x, y, torch.ones(8, 1))", []),
    ],
)
def test_what_a_likelihood_takes(tmp_path: Path, call: str, severities: list[str]) -> None:
    assert told(tmp_path, call) == severities
