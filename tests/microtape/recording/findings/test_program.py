"""What the searches ask of a program as a whole."""

from __future__ import annotations

import dataclasses

import pytest

from microtape.recording.findings.program import Program
from tests.support.recordings import handmade


@pytest.mark.parametrize(
    ("line", "assigns"),
    [
        ("p.grad = q.grad", True),
        ("p.grad *= scale", True),
        ("p.grad.data.copy_(mean)", True),
        ("p._grad = mean", True),
        ('setattr(p, "grad", mean)', True),
        ("p.grad = None", False),
        ("if p.grad == mean: pass", False),
        ('setattr(module, "gradient_checkpointing", True)', False),
        ("setattr(self, name, gradients)", False),
    ],
)
def test_whether_a_program_assigns_gradients(line: str, assigns: bool) -> None:
    recording = handmade.diamond()
    assert not Program(recording).assigns_gradients
    sources = {**recording.sources, "train.py": f"import torch\n{line}\n"}
    assert Program(dataclasses.replace(recording, sources=sources)).assigns_gradients is assigns
