"""Nothing is found in programs that train something in an ordinary way, whatever sizes are equal by chance."""

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
    "STEPS": (2, 3, 6),
    "ACTIVATION": tuple(f"nn.{name}" for name in ("ReLU", "Tanh", "GELU", "SiLU", "LeakyReLU", "ELU")),
    "OPTIMIZER": tuple(f"torch.optim.{name}" for name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad")),
}
ON_MICROTAPE = {
    "import torch": "import microtape as torch",
    "from torch import nn": "nn = torch.nn",
    "from torch.nn import functional as F": "F = torch.nn.functional",
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
