"""A kill at any moment leaves the old file or the new one, and what it does leave else is found."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
CARELESS = """\
import random, sys, tempfile
from pathlib import Path
from tests.kills.killing import begin, kill_once
from tests.kills.writers import Writer

def write(folder, number):
    with open(folder / "file", "w") as file:
        file.write(f"{number}\\n" * 100_000)

def read(folder):
    found = set((folder / "file").read_text().split())
    assert len(found) == 1, "cut off"
    return int(found.pop())

careless = Writer("careless", write, read)
chance = random.Random(1)
for _ in range(40):
    with tempfile.TemporaryDirectory() as folder:
        seconds = begin(careless, Path(folder))
        outcome = kill_once(careless, Path(folder), chance, seconds)
        if outcome.fault is not None:
            sys.exit(outcome.fault)
"""


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, because it forks."""
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)


def test_a_few_kills_while_the_progress_is_written() -> None:
    ran = run("-m", "tests.kills", "5", "--only", "progress")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.endswith("in the middle of writing\n")


def test_a_writer_that_is_not_atomic_is_found() -> None:
    ran = run("-c", CARELESS)
    assert ran.returncode == 1
    assert "the file is broken: AssertionError: cut off" in ran.stderr


def test_the_figures_of_other_kinds_stay(tmp_path) -> None:
    figures = tmp_path / "kills.json"
    kinds = [["progress", "1", "1"], ["microtape film", "7", "2"]]
    figures.write_text(json.dumps({"faults": 0, "most_lost_s": 1.5, "kinds": kinds}), encoding="utf-8")
    ran = run("-m", "tests.kills", "3", "--only", "progress", "--figures", str(figures))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    found = json.loads(figures.read_text(encoding="utf-8"))
    assert [one[:2] for one in found["kinds"]] == [["progress", "3"], ["microtape film", "7"]]
    assert (found["kills"], found["most_lost_s"]) == (10, 1.5)


@pytest.mark.slow
def test_kills_of_everything_that_writes_files() -> None:
    ran = run("-m", "tests.kills", "40")
    assert ran.returncode == 0, ran.stdout + ran.stderr
