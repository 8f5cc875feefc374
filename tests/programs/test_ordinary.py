"""Programs that train something in an ordinary way, whatever sizes are equal by chance: nothing is found in them.

Once a fault is put into one, that is found.
"""

from __future__ import annotations

import re
import tempfile
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microtape.recording.findings import findings
from tests.programs.corpus import HERE, faults_of, record_program

NAMES = sorted(path.name for path in HERE.glob("ordinary/*.py"))
SIZES = (2, 8, 16)
CONSTANTS = {
    "BATCH": SIZES,
    "INPUTS": (1, *SIZES),
    "HIDDEN": SIZES[1:],  # of two units, all may be dead
    "OUTPUTS": (1, *SIZES),
    "CLASSES": SIZES,
    "STEPS": (3, 4, 6),  # two are one update, where gradients are accumulated
    "ACTIVATION": tuple(f"nn.{name}" for name in ("ReLU", "Tanh", "GELU", "SiLU", "LeakyReLU", "ELU")),
    "OPTIMIZER": tuple(f"torch.optim.{name}" for name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad")),
}
ON_MICROTAPE = {
    "import torch": "import microtape as torch",
    "from torch import nn": "nn = torch.nn",
    "from torch.nn import functional as F": "F = torch.nn.functional",
}


_OPTIMIZER = r"^((\w+) = OPTIMIZER\(.*\)\n)"
_KEPT = r"former = [p.{} for p in \2.param_groups[0]['params']]\n"
_AT_THE_END = r"""
with torch.no_grad():
    for p, old in zip(\2.param_groups[0]['params'], former):
        {}
"""

FAULTS = {  # what is put in the place of what, and the kinds of finding of which it may be the first
    "never reset": (r"^ +\w+\.zero_grad\(\)\n", "", ("accumulated",)),
    "backward twice": (r"^( +)(.*\.backward\(\)\n)", r"\1\2\1\2", ("freed",)),
    "cut off": (r"loss\.backward\(\)", "loss.detach().backward()", ("refused",)),
    "a number": (
        r"loss\.backward\(\)",
        "torch.tensor(loss.item(), requires_grad=True).backward()",
        ("no gradient", "no update"),
    ),
    "no history": (r"^( +)(loss = .*\n)", r"\1with torch.no_grad():\n\1    \2", ("refused", "no gradient")),
    "NaN": (r"loss\.backward\(\)", "(loss - 1e6).sqrt().backward()", ("nan",)),
    "NaN without a history": (
        r"^( +)loss\.backward\(\)",
        r"\1with torch.no_grad():\n\1    scale = (loss - 1e6).sqrt() + 1\n\1(loss * scale).backward()",
        ("nan",),
    ),
    "kept nowhere": (r"^( +)(loss = [^0].*\n)", r"\1\2\1loss.clamp(max=10)\n", ("no effect",)),
    "not called": (r"^( +\w+\.zero_grad)\(\)\n", r"\1\n", ("no effect",)),
    "not written": (
        r"^( +)(optimizer)\.step\(\)$",
        r"\1for p in [p for group in \2.param_groups for p in group['params']]:\n"
        r"\1    if p.grad is not None:\n\1        p = p - 0.01 * p.grad",
        ("no effect",),
    ),
    "rounded": (r"loss\.backward\(\)", "loss.round().backward()", ("zero gradient",)),
    "no scores": (
        r"F\.cross_entropy\((\w+\(x\)|scores|heads\[1\]\(h\)),",
        r"F.cross_entropy(F.softmax(\1, dim=1),",
        ("probabilities",),
    ),
    "kept, and restored": (
        rf"{_OPTIMIZER}([\s\S]*)\Z",
        rf"\1{_KEPT.format('detach()')}\3\n" + _AT_THE_END.format("p.copy_(old)"),
        ("written through a view",),
    ),
    "kept, and compared": (
        rf"{_OPTIMIZER}([\s\S]*)\Z",
        rf"\1{_KEPT.format('data')}\3\n" + _AT_THE_END.format("print(torch.equal(p, old))"),
        ("written through a view",),
    ),
}


def program(name: str, values: tuple[object, ...], engine: str) -> str:
    """The text of a program with these constants, for an engine."""
    assigned = f"{', '.join(CONSTANTS)} = {', '.join(map(str, values))}"
    text, count = re.subn("^BATCH, .*$", assigned, (HERE / "ordinary" / name).read_text(), flags=re.MULTILINE)
    assert count == 1
    lines = text.splitlines(keepends=True)
    if engine == "microtape":
        lines = [line.replace(line.rstrip(), ON_MICROTAPE.get(line.rstrip(), line.rstrip())) for line in lines]
    return "".join(lines)


_ALL = "moved = [p for group in optimizer.param_groups for p in group['params']]\n"
_COPIED = "former = [p.detach().clone() for p in moved]\n"
HABITS = {  # what people write around the step, and nothing is wrong with it
    "none": "STEP",
    "try it and go back": """
STEP
with torch.no_grad():
    for p, q in zip(moved, former):
        p.copy_(q)
""",
    "go back where it was bad": """
STEP
if loss.item() > 1.0:
    for p, q in zip(moved, former):
        p.data.copy_(q)
""",
    "compare": """
STEP
changes = [(p - q).norm().item() for p, q in zip(moved, former)]
same = all(torch.equal(p.data, q) for p, q in zip(moved, former))
""",
    "go half the way": """
STEP
with torch.no_grad():
    for p, q in zip(moved, former):
        p.lerp_(q, 0.5)
""",
    "look": """
sizes = [p.data.norm() for p in moved]
data = [p.data for p in moved]
STEP
sizes = [q.norm() / p.grad.norm() for p, q in zip(moved, data) if p.grad is not None]
""",
    "decay by hand": """
for p in moved:
    weights = p.data
    weights.mul_(0.999)
    weights.add_(p.data, alpha=1e-4)
STEP
""",
    "clip": """
nn.utils.clip_grad_norm_(moved, 1.0)
STEP
with torch.no_grad():
    for p in moved:
        p.clamp_(-10, 10)
""",
    "average": """
average = [p.detach().clone() for p in moved]
STEP
with torch.no_grad():
    for p, q in zip(moved, average):
        q.mul_(0.9).add_(p, alpha=0.1)
""",
}


def with_habit(text: str, habit: str) -> str:
    """The program with this around each step of its optimiser."""

    def around(step: re.Match[str]) -> str:
        return textwrap.indent(_ALL + _COPIED + HABITS[habit].replace("STEP", step[2]), step[1])

    return re.sub(r"^( +)(optimizer\.step\(\))$", around, text, flags=re.MULTILINE)


@pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=pytest.mark.parity)])
@given(st.sampled_from(NAMES), st.tuples(*map(st.sampled_from, CONSTANTS.values())), st.sampled_from(sorted(HABITS)))
def test_nothing_is_found(engine: str, name: str, values: tuple[object, ...], habit: str) -> None:
    text = with_habit(program(name, values, engine), habit)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_text(text)
        recording, _ = record_program(path)
        assert recording.error is None
        assert [one.headline for one in findings(recording) if one.severity != "notice"] == []
    assert recording.passes
    assert faults_of(recording) == []


@pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=pytest.mark.parity)])
@pytest.mark.parametrize("fault", FAULTS)
@given(st.data())
def test_a_fault_is_found(engine: str, fault: str, data: st.DataObject) -> None:
    pattern, replacement, kinds = FAULTS[fault]
    apt = [name for name in NAMES if re.search(pattern, (HERE / "ordinary" / name).read_text(), re.MULTILINE)]
    name = data.draw(st.sampled_from(apt))
    values = data.draw(st.tuples(*map(st.sampled_from, CONSTANTS.values())))
    text = re.sub(pattern, replacement, program(name, values, engine), flags=re.MULTILINE)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_text(text)
        recording, _ = record_program(path)
        found = findings(recording)
    assert found, "nothing is found"
    assert found[0].kind in kinds, found[0]
    assert found[0].severity != "notice"
    assert found[0].place is not None
    assert found[0].place.file == name
