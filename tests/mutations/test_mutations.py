"""Damaged recordings are refused in one line, or every view shows them, within bounded memory."""

from __future__ import annotations

import subprocess
import sys

import pytest

from microtape.errors import RecordingError
from tests.mutations.judge import judge
from tests.mutations.mutants import ORIGINALS, Mutants

FEW, MANY = 40, 500


@pytest.fixture(scope="module")
def mutants() -> Mutants:
    return Mutants()


def test_a_few_damaged_recordings(mutants: Mutants) -> None:
    outcomes = [judge(mutants.mutant(number)) for number in range(FEW)]
    assert outcomes.count(None) > FEW / 4  # else the views would hardly be tested,
    assert len(set(outcomes)) > FEW / 4  # or only one reason to refuse


def test_a_number_is_the_same_file_whatever_was_made_before(mutants: Mutants) -> None:
    again = Mutants()
    before = {number: mutants.mutant(number) for number in range(60)}
    assert not [number for number in reversed(range(60)) if again.mutant(number) != before[number]]


def test_what_is_not_damaged_is_opened() -> None:
    assert [judge(path.read_bytes()) for path in ORIGINALS[:3]] == [None] * 3


def test_a_refusal_of_several_lines_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(file: object) -> None:
        raise RecordingError("the file: one\ntwo")

    monkeypatch.setattr("tests.mutations.judge.load", load)
    with pytest.raises(AssertionError, match="several lines"):
        judge(b"")


@pytest.mark.slow
def test_hundreds_of_damaged_recordings_in_bounded_memory() -> None:
    """In a process of its own, whose memory is limited."""
    ran = subprocess.run([sys.executable, "-m", "tests.mutations", str(MANY), "--first", "1000000"],
                         capture_output=True, text=True, check=False)  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"{MANY:,} files" in ran.stdout
