"""The backward that a module defines for itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import findings
from tests.programs.corpus import record_program

PROGRAM = """\
import microtape as mt
from microtape import nn


class Layer({base}):
    def forward(self, x):
        return x * 2

    {method}
        return grad


layer = Layer()
w = mt.ones(3, requires_grad=True)
y = layer.forward(w)
y.sum().backward()
{after}
"""


@pytest.mark.parametrize(
    ("base", "method", "after", "is_told"),
    [
        ("nn.Module", "def backward(self, grad):", "", True),
        ("nn.Module", "def backward(self, grad_output, scale=1):\n        grad = grad_output", "", True),
        ("nn.Module", "def backward(self, grad):", "layer.backward(w.grad)", False),
        ("nn.Module", "def backward(self, loss):\n        grad = loss", "", False),
        ("nn.Module", "def backward(self):\n        grad = None", "", False),
        ("nn.Module", "@staticmethod\n    def backward(self, grad):", "", False),
        ("object", "def backward(self, grad):", "", False),
    ],
)
def test_autograd_does_not_call_it(base: str, method: str, after: str, is_told: bool, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.format(base=base, method=method, after=after))
    recording, _ = record_program(path)
    told = [one.headline for one in findings(recording) if one.kind == "no effect"]
    assert [one.startswith("Layer.backward at program.py:9 is never called") for one in told] == [True] * is_told
