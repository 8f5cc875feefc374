"""Where gradients are clipped: what is told, and the programs of the same form that are right."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from microtape.recording.findings import Finding, findings
from tests.programs.corpus import record_program

_START = """\
import microtape as mt
from microtape import nn, optim

mt.manual_seed(0)
model, head = nn.Linear(2, 2), nn.Linear(2, 1)
every = [*model.parameters(), *head.parameters()]
optimizer = optim.SGD(every, lr=0.01)
x, y = mt.randn(6, 2), 9 + mt.randn(6, 1)
most, norm, clips = 2, 0.5, True


def loss_of():
    return ((head(model(x)) - y) ** 2).mean()


def clip():
    nn.utils.clip_grad_norm_(every, norm)


def finish():
    nn.utils.clip_grad_norm_(every, norm)
    optimizer.step()
    optimizer.zero_grad()


def step_alone():
    optimizer.step()


"""


def told(folder: Path, loop: str, start: str = "") -> list[Finding]:
    """The findings about clipping in a program with this loop."""
    script = folder / "script.py"
    script.write_text(f"{_START}{start}for i in range(6):\n{indent(loop, '    ')}\n")
    recording, _ = record_program(script)
    assert recording.error is None, recording.error
    return [one for one in findings(recording) if one.kind == "clipping"]


_USUAL = "optimizer.zero_grad()\nloss = loss_of()\n{}loss.backward()\n{}optimizer.step()\n{}"
_CLIP = "nn.utils.clip_grad_norm_(every, norm)\n"
_SUMMED = (
    "loss = loss_of() / most\nloss.backward()\n{}"
    "if (i + 1) % most == 0:\n{}    optimizer.step()\n    optimizer.zero_grad()"
)


@pytest.mark.parametrize(
    ("loop", "headline"),
    [
        (_USUAL.format("", "", f"if clips:\n    {_CLIP}"), "has used already"),
        (_USUAL.format("", "", "clip()\n"), "has used already"),
        (_USUAL.format("clip()\n", "", ""), "finds nothing to clip"),
        (_USUAL.format(f"if norm > 0:\n    total = {_CLIP}", "", ""), "finds nothing to clip"),
        (_SUMMED.format(_CLIP, ""), "after each part of a sum"),
        (_SUMMED.format(f"if clips:\n    {_CLIP}", ""), "after each part of a sum"),
        (f"for _ in range(3):\n    loss = loss_of()\n    loss.backward()\n    {_CLIP}optimizer.step()\n"
         "optimizer.zero_grad()", "after each part of a sum"),
    ],
)  # fmt: skip
def test_clipping_in_a_wrong_place_is_found(tmp_path: Path, loop: str, headline: str) -> None:
    (finding,) = told(tmp_path, loop)
    assert finding.severity == "warning"
    assert headline in finding.headline


@pytest.mark.parametrize(
    "loop",
    [
        _USUAL.format("", "clip()\n", ""),
        _USUAL.format("", f"if clips:\n    {_CLIP}", ""),
        _SUMMED.format("", f"    {_CLIP}"),
        _SUMMED.format("", "    clip()\n"),
        _SUMMED.format(_CLIP.replace("norm)", "1e6)"), ""),  # which cuts nothing
        "loss = loss_of()\nloss.backward()\nfinish()",
        f"optimizer.zero_grad()\ndef closure():\n    optimizer.zero_grad()\n    loss = loss_of()\n    loss.backward()\n"
        f"    {_CLIP}    return loss\noptimizer.step(closure)",
        f"loss = loss_of()\nloss.backward()\n{_CLIP}step_alone()\nfor p in every:\n    p.grad = None",
        "optimizer.zero_grad()\nif i % 2:\n    loss = loss_of()\n    loss.backward()\n    optimizer.step()\nelse:\n"
        f"    loss = loss_of()\n    loss.backward()\n    {_CLIP}    optimizer.step()",
    ],
)  # fmt: skip
def test_clipping_where_it_helps_is_not_told(tmp_path: Path, loop: str) -> None:
    assert told(tmp_path, loop) == []


def test_gradients_that_are_clipped_one_by_one_and_summed_elsewhere(tmp_path: Path) -> None:
    loop = (
        "kept = [mt.zeros_like(p) for p in every]\n"
        "for row in range(6):\n"
        "    ((head(model(x[row])) - y[row]) ** 2).sum().backward()\n"
        f"    {_CLIP}"
        "    for p, one in zip(every, kept):\n        one += p.grad\n        p.grad = None\n"
        "for p, one in zip(every, kept):\n    p.grad = one / 6\n"
        "optimizer.step()\noptimizer.zero_grad()"
    )
    assert told(tmp_path, loop) == []


def test_a_leaf_that_no_optimiser_has_is_clipped_again_and_again(tmp_path: Path) -> None:
    loop = _USUAL.format("", _CLIP, "")
    assert told(tmp_path, loop, "optimizer = optim.SGD(head.parameters(), lr=0.01)\n") == []


def test_a_method_of_the_same_name_as_one_that_clips_is_another(tmp_path: Path) -> None:
    start = "class Trainer:\n    def clip(self):\n        nn.utils.clip_grad_norm_(every, norm)\n\n\n"
    assert told(tmp_path, _USUAL.format("z = x.clip(0, 1)\n", "", ""), start) == []
