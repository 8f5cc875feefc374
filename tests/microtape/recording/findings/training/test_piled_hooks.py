"""Hooks that become more and more on a leaf: what is told, and what may be meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import Finding, findings
from tests.programs.corpus import record_program

PROGRAM = """\
import microtape as mt
from microtape import optim

mt.manual_seed(0)
w, x = mt.randn(3, requires_grad=True), mt.randn(4, 3)
optimizer = optim.SGD([w], lr=0.01)
mask, seen = mt.tensor([1.0, 0.0, 1.0]), []
{before}
for step in range(6):
    {each}
    optimizer.zero_grad()
    (x @ w - 1).square().mean().backward()
    optimizer.step()
    {after}
"""


def found(folder: Path, each: str, before: str = "pass", after: str = "pass") -> list[Finding]:
    """What is told of hooks."""
    script = folder / "script.py"
    script.write_text(PROGRAM.format(each=each, before=before, after=after))
    return [one for one in findings(record_program(script)[0]) if one.headline.startswith("Hooks pile up")]


def test_a_hook_that_each_round_adds_is_told_with_its_factor(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, "w.register_hook(lambda g: g * 0.5)")
    assert finding.headline == "Hooks pile up on w: 6 of them by pass 6"
    assert "ran 1 time for w; in pass 6 it ran 6 times" in finding.explanation[0]
    assert finding.explanation[1] == "Each multiplies the gradient by 0.5, all together by 0.01562 in pass 6."
    assert finding.place is not None
    assert finding.place.line == 10


def test_a_hook_that_every_second_round_adds_is_told(tmp_path: Path) -> None:
    assert len(found(tmp_path, "step % 2 or w.register_hook(lambda g: -g)")) == 1


@pytest.mark.parametrize(
    ("before", "each", "after"),
    [
        ("w.register_hook(lambda g: g * 0.5)", "pass", "pass"),
        ("for _ in range(4): w.register_hook(lambda g: g * 0.5)", "pass", "pass"),
        ("pass", "handle = w.register_hook(lambda g: g * 0.5)", "handle.remove()"),
        ("pass", "w.register_hook(lambda g: g * mask)", "pass"),
        ("pass", "w.register_hook(lambda g: g.clamp(-0.1, 0.1))", "pass"),
        ("pass", "w.register_hook(lambda g: seen.append(g.norm()))", "pass"),
        ("pass", "w.register_hook(lambda g: g * 1.0)", "pass"),
        ("pass", "w.register_hook(lambda g, step=step: g * (1 - 0.1 * step))", "pass"),
        ("pass", "w.register_hook(lambda g: g + 0.01 * mt.randn(3))", "pass"),
    ],
)
def test_one_hook_or_those_that_change_nothing_again_are_left_alone(
    tmp_path: Path, before: str, each: str, after: str
) -> None:
    assert found(tmp_path, each, before, after) == []
