"""Whole scripts of courses, as learners type them: microtape prints what torch prints, and nothing is found wrong."""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from pathlib import Path

import pytest

from microtape.recording.findings import findings
from tests.programs.corpus import record_program

SCRIPTS = sorted((Path(__file__).parent / "courses").glob("*.py"))
NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?%?")
each_script = pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)


def on_microtape(source: str) -> str:
    """The script with its imports changed, and nothing else."""
    source = re.sub(r"^import torch$", "import microtape as torch", source, flags=re.MULTILINE)
    return re.sub(r"^(import|from) torch\b", r"\1 microtape", source, flags=re.MULTILINE)


def printed(source: str) -> str:
    output = io.StringIO()
    with contextlib.redirect_stdout(output), warnings.catch_warnings(action="ignore"):
        exec(compile(source, "script", "exec", dont_inherit=True), {"__name__": "__main__"})
    return output.getvalue().replace("microtape.", "torch.")


def split(text: str) -> tuple[list[str], list[float]]:
    """The words of a text, whose spaces may depend on numbers, and its numbers with a fraction."""
    return NUMBER.sub(" 0. ", text).split(), [float(one.rstrip("%")) for one in NUMBER.findall(text)]


@each_script
def test_a_script_prints_what_it_prints_on_torch(script: Path) -> None:
    source = script.read_text(encoding="utf-8")
    ours, theirs = printed(on_microtape(source)), printed(source)
    (our_words, our_numbers), (their_words, their_numbers) = split(ours), split(theirs)
    assert our_words == their_words, ours
    assert len(their_numbers) > 2
    assert our_numbers == pytest.approx(their_numbers, rel=2e-3, abs=2e-3), ours


@each_script
@pytest.mark.parametrize("engine", ["torch", "microtape"])
def test_nothing_is_found_in_a_script(script: Path, engine: str, tmp_path: Path) -> None:
    source = script.read_text(encoding="utf-8")
    program = tmp_path / script.name
    program.write_text(on_microtape(source) if engine == "microtape" else source, encoding="utf-8")
    recording, _ = record_program(program)
    assert recording.error is None
    assert not recording.faults
    assert len(recording.passes) > 5
    assert findings(recording) == ()
