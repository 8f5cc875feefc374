"""Where a part of a module is made: the path is followed from class to class, as far as it is certain."""

from __future__ import annotations

import dataclasses

import pytest

import microtape as mt
from microtape.recording import record
from microtape.recording.findings.makers import made_at

SOURCE = """\
class Norm(nn.Module):
    def __init__(self):
        self.weight = nn.Parameter(torch.ones(4))
class Part(Norm):
    def __init__(self, other):
        self.norm = Norm()
        self.other = other
        self.act = None
        self.act = nn.PReLU()
        self.act = self.act.double()
        self.choice = Norm() if other else Part()
        self.register_parameter("shift", nn.Parameter(torch.zeros(4)))
class Net(nn.Module):
    def __init__(self):
        self.norm, self.last = Part(1), nn.Linear(4, 4)
        self.rows = nn.ModuleList([Part(i) for i in range(3)])
        self.pair = nn.Sequential(
            nn.Linear(4, 4),
            Part(2).double(),
        )
        self.named = nn.ModuleDict(dict(
            one=nn.Linear(4, 4),
            two=Norm(),
        ))
        self.twice = nn.Linear(1, 2)
        self.twice = nn.Linear(2, 2)
net = Net()
net = net.cuda()
ws = [nn.Parameter(a)]
class Wrapper(nn.Module):
    def __init__(self, inner):
        self.inner = inner
wrapper = Wrapper(net)
"""


@pytest.mark.parametrize(
    ("name", "part", "line"),
    [
        ("net.norm.norm.weight", "", 3),
        ("norm.norm.weight", "", 3),
        ("norm.norm.weight", "norm.norm", 6),
        ("norm.norm.weight", "norm", 15),
        ("last.weight", "", 15),
        ("rows.1.act.weight", "", 9),
        ("rows.1.shift", "", 12),
        ("rows.1.weight", "", 3),
        ("net.rows[1].other.bias", "", 7),
        ("pair.0.bias", "", 18),
        ("pair.1.choice.weight", "", 11),
        ("pair.1.choice.weight", "pair", 17),
        ("named.one.bias", "", 22),
        ("named.two.weight", "", 3),
        ("net.twice.bias", "", 27),
        ("module.last.weight", "module.last", 15),
        ("ws[0]", "", 29),
        ("inner.last.weight", "", 15),
        ("inner.unknown.weight", "", 32),
        ("twice.bias", "", None),
        ("unknown.bias", "", None),
        ("unknown", "", None),
    ],
)
def test_a_part_is_made_where_its_path_leads(name: str, part: str, line: int | None):
    recording = dataclasses.replace(record(lambda: mt.tensor(1.0)), sources={"net.py": SOURCE})
    place = made_at(recording, name, part)
    assert (place.line if place is not None else None) == line
