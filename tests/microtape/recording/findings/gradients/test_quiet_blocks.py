"""Where the block begins that keeps an operation off the tape."""

from __future__ import annotations

from pathlib import Path

import pytest

from microtape.recording.findings import findings
from tests.programs.corpus import record_program

PROGRAM = """\
import microtape as mt
from microtape import nn

net, head = nn.Linear(3, 4), nn.Linear(4, 1)
x = mt.ones(2, 3)


{before}


{block}
head(h).sum().backward()
"""
WITHOUT_BLOCK = "def features():\n    return net(x)"
CASES = {
    "with": ("", "with mt.no_grad():  # here\n    h = net(x)"),
    "several": ("", "with open(__file__) as f, mt.no_grad():  # here\n    h = net(x)"),
    "innermost": ("", "with mt.no_grad():\n    with mt.no_grad():  # here\n        h = net(x)"),
    "named arguments": ("", "with mt.set_grad_enabled(False):  # here\n    h = net(x)"),
    "decorator": ("@mt.no_grad()  # here\ndef features():\n    return net(x)", "h = features()"),
    "without parentheses": ("@mt.no_grad  # here\ndef features():\n    return net(x)", "h = features()"),
    "of the caller": (WITHOUT_BLOCK, "with mt.no_grad():  # here\n    h = features()"),
    "not around it": (
        "def features():\n    with mt.no_grad():\n        x + 1\n    return net(x)",
        "with mt.no_grad():  # here\n    h = features()",
    ),
    "two callers": (
        f"{WITHOUT_BLOCK}\n\n\ndef other():\n    with mt.no_grad():\n        return features()",
        "with mt.no_grad():\n    h = features()",
    ),
    "another context": (
        "", "with mt.autograd.set_detect_anomaly(True), mt.no_grad():  # here\n    h = net(x)",
    ),
    "left off": ("", "mt.set_grad_enabled(False)\nh = net(x)\nmt.set_grad_enabled(True)"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_line_where_the_block_begins_is_told(case: str, tmp_path: Path) -> None:
    before, block = CASES[case]
    source = PROGRAM.format(before=before, block=block)
    path = tmp_path / "program.py"
    path.write_text(source)
    recording, _ = record_program(path)
    (finding,) = [one for one in findings(recording) if one.kind == "no gradient"]
    lines = [number for number, text in enumerate(source.splitlines(), 1) if text.endswith("# here")]
    told = f"ran under the no_grad of program.py:{lines[0]}: " if lines else "ran under no_grad: "
    assert told in finding.explanation[0]
