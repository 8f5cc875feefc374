"""A layer that a list holds several times is noticed; weights that are tied otherwise are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import findings
from tests.programs.corpus import faults_of, record_program

engines = pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=pytest.mark.parity)])
PROGRAM = """\
import {engine} as torch
nn = torch.nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {made}

    def forward(self, x):
        {used}
        return x


net = Net()
net(torch.ones(2, 4)).sum().backward()
"""
IN_TURN = "for layer in self.layers: x = layer(x)"


def noticed(folder: Path, engine: str, made: str, used: str) -> list[str]:
    path = folder / "train.py"
    path.write_text(PROGRAM.format(engine=engine, made=made, used=used))
    recording, _ = record_program(path)
    assert recording.error is None
    assert faults_of(recording) == []
    assert {one.name for one in recording.tensors if one.is_leaf and one.requires_grad} >= {"net.scale"}
    found = [one for one in findings(recording) if one.kind == "shared layer"]
    assert all(one.place is not None and one.place.line == 8 for one in found)
    return [one.headline for one in found]


@engines
@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("nn.ModuleList([nn.Linear(4, 4)] * 3)", "layers.0, layers.1 and layers.2 are one layer"),
        ("nn.Sequential(nn.ReLU(), *[nn.Linear(4, 4), nn.ReLU()] * 2)", "layers.1 and layers.3 are one layer"),
        ("nn.ModuleList([nn.Sequential(nn.Linear(4, 4))] * 2)", "layers.0 and layers.1 are one layer"),
        ("nn.Sequential(nn.Linear(4, 4), *[nn.Linear(4, 4)] * 8)", "layers.1, layers.2, layers.3 and 5 more are one"),
    ],
)
def test_one_layer_in_several_places(tmp_path: Path, engine: str, made: str, told: str) -> None:
    (headline,) = noticed(tmp_path, engine, f"self.scale = torch.ones(4, requires_grad=True); self.layers = {made}",
                          "x = x * self.scale\n        " + IN_TURN)  # fmt: skip
    assert headline.startswith(told)


@engines
@pytest.mark.parametrize(
    "made",
    [
        "self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])",
        "self.layers = nn.Sequential(*[nn.ReLU()] * 3)",  # without weights
        "self.first = nn.Linear(4, 4); self.layers = [self.first]",  # under two names
        "a, b = nn.Linear(4, 4), nn.Linear(4, 4); b.weight = a.weight; self.layers = nn.ModuleList([a, b])",
        "self.layers = nn.ModuleList([nn.Linear(4, 4)]); self.layers[0].parent = self.layers",  # goes in a circle
    ],
)
def test_other_layers(tmp_path: Path, engine: str, made: str) -> None:
    made = f"self.scale = torch.ones(4, requires_grad=True); {made}"
    assert noticed(tmp_path, engine, made, "x = x * self.scale\n        " + IN_TURN) == []
