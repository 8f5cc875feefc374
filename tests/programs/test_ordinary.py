"""Programs that train something in an ordinary way, whatever sizes are equal by chance: nothing is found in them.

Once a fault is put into one, that is found.
"""

from __future__ import annotations

import re
import tempfile
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
    "rounded": (r"loss\.backward\(\)", "loss.round().backward()", ("zero gradient",)),
    "no scores": (
        r"F\.cross_entropy\((\w+\(x\)|scores|heads\[1\]\(h\)),",
        r"F.cross_entropy(F.softmax(\1, dim=1),",
        ("probabilities",),
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


@pytest.mark.parametrize("engine", ["microtape", pytest.param("torch", marks=pytest.mark.parity)])
@given(st.sampled_from(NAMES), st.tuples(*map(st.sampled_from, CONSTANTS.values())))
def test_nothing_is_found(engine: str, name: str, values: tuple[object, ...]) -> None:
    text = program(name, values, engine)
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
