"""A program that uses both engines: which of them is recorded, and what is said of the other."""

import subprocess
import sys
from pathlib import Path

import pytest

from microtape.recording.file.tape_file import load
from tests.support.rendering import needs_graphviz
from tui.commands.cli import main
from tui.shell.exits import Exit

BOTH = """\
import microtape as mt
import torch

own = mt.tensor(2.0, requires_grad=True)
other = torch.tensor(3.0, requires_grad=True)
for number in range(2):
    {first}
    {second}
"""
OWN, OTHER = "(own * own).backward()", "other.exp().backward()"


@pytest.fixture
def script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(first, second):
        Path("both.py").write_text(BOTH.format(first=first, second=second))
        return "both.py"

    return write


def recorded(*options):
    assert main(["record", "both.py", "--pass", "all", "-o", "both.tape", *options]) == Exit.OK
    recording = load("both.tape")
    operations = {node.op for node in recording.nodes if node.kind == "operation"}
    return operations, len(recording.passes), [one for one in recording.notes if "engine" in one]


def note(other, option):
    return f"the program also calls backward on {other}, which is not recorded here; --engine {option} records that"


def test_the_engine_whose_backward_runs_first_is_recorded_and_the_other_is_noted(script):
    script(OWN, OTHER)
    assert recorded() == ({"mul"}, 2, [note("PyTorch", "torch")])
    script(OTHER, OWN)
    assert recorded() == ({"exp"}, 2, [note("microtape", "microtape")])


def test_the_engine_that_was_asked_for_is_recorded(script):
    script(OWN, OTHER)
    assert recorded("--engine", "torch")[:2] == ({"exp"}, 2)
    script(OTHER, OWN)
    assert recorded("--engine", "microtape")[:2] == ({"mul"}, 2)


@pytest.mark.parametrize(
    "command",
    [
        ["trace"],
        ["draw", "-o", "graph.dot"],
        pytest.param(["film", "-o", "run.html"], marks=needs_graphviz),
        ["diagnose"],
    ],
)
def test_every_command_that_records_takes_an_engine(script, command, capfd):
    script(OWN, OTHER)
    assert main([*command, "both.py", "--engine", "torch"]) == Exit.OK
    written = Path(command[-1]).read_text() if "-o" in command else capfd.readouterr().out
    assert "both.py" in written or "exp" in written


@pytest.mark.parametrize("engine", ["microtape", "torch"])
@pytest.mark.parametrize(
    "which",
    [
        ["--every", "2"],
        ["--pass", "2"],
        ["--pass", "all"],
        ["--thread", "main"],
        ["--check"],
        ["--until", "grad.max() > 3"],
    ],
)
def test_an_engine_goes_with_every_choice_of_passes(script, engine, which):
    script(OWN, OTHER)
    ended = main(["record", "both.py", "-o", "both.tape", "--engine", engine, *which])
    assert ended == Exit.OK
    assert {node.op for node in load("both.tape").nodes} - {"accumulate"} == {
        {"microtape": "mul", "torch": "exp"}[engine]
    }


def test_another_engine_is_refused(script, capfd):
    script(OWN, OTHER)
    assert main(["record", "both.py", "--engine", "jax"]) == Exit.BAD_INPUT
    error = capfd.readouterr().err
    assert "argument --engine: invalid choice: 'jax' (choose from" in error
    assert error.count("\n") == 1


def test_a_program_that_computes_off_the_tape_and_imports_torch_is_told_of_its_own_engine(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    Path("off.py").write_text(
        "import microtape as mt\nimport torch\n\nw = mt.ones(2, requires_grad=True)\n"
        "with mt.no_grad():\n    loss = (w * w).sum()\nloss.backward()\n"
    )
    main(["diagnose", "off.py"])
    assert "loss has no history: no_grad at off.py:6 cut it off" in capfd.readouterr().out


IMPORTED_INSIDE = """\
import microtape as mt

own = mt.tensor(2.0, requires_grad=True)
with mt.record() as recorder:
    {before}
    import torch

    other = torch.tensor(3.0, requires_grad=True)
    other.exp().backward()
print([node.op for node in recorder.recording.nodes], *recorder.recording.notes)
"""


@pytest.mark.parametrize(
    ("before", "shown"),
    [("pass", "['accumulate', 'exp']\n"), (OWN, f"['accumulate', 'mul'] {note('PyTorch', 'torch')}\n")],
)
def test_torch_may_be_imported_inside_of_record(before, shown):
    program = IMPORTED_INSIDE.format(before=before)
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == shown
