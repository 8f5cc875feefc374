"""Networks that follow another one: what is copied into them by hand is no mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import findings
from tests.programs.corpus import record_program

PROGRAM = """\
import copy

import microtape as mt
from microtape import nn, optim






mt.manual_seed(0)
online = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
{target}
optimizer = optim.SGD(online.parameters(), lr=0.1)
for _ in range(3):
    {use}
    loss = (online(mt.ones(5, 3)) - wanted).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
BY_HAND = "for a, b in zip(target.parameters(), online.parameters()):\n    a.data.copy_(b.data)"
ANEW = "target = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))"
QUIETLY = "with mt.no_grad():\n        wanted = target(mt.ones(5, 3)) + 1"
DETACHED = "wanted = (target(mt.ones(5, 3)) + 1).detach()"


@pytest.mark.parametrize("use", [QUIETLY, DETACHED])
@pytest.mark.parametrize(
    "target",
    [f"{ANEW}\n{BY_HAND}", f"{ANEW}\ntarget.load_state_dict(online.state_dict())", "target = copy.deepcopy(online)"],
)
def test_a_target_that_is_used_is_not_called_the_pattern_of_a_copy(use: str, target: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.format(target=target, use=use))
    recording, _ = record_program(path)
    assert [one.headline for one in findings(recording)] == []
