"""The instructions of an operation are compared with a stored count; timings would be too noisy for a test."""

import os
import shutil

import pytest

from benchmarks import instructions

needs_valgrind = pytest.mark.skipif(
    not os.environ.get("MICROTAPE_NO_SKIP") and shutil.which("valgrind") is None, reason="valgrind is not installed"
)


@pytest.mark.slow
@needs_valgrind
def test_the_engine_takes_no_more_instructions_than_stored():
    expected = instructions.stored()
    if expected is None:
        pytest.skip(f"nothing is stored for Python {instructions.PYTHON}")
    assert instructions.changed(instructions.count(), expected) == []


def test_a_change_beyond_the_tolerance_is_named():
    assert instructions.changed({"chain": 2.06}, {"chain": 2.0}) == []
    assert instructions.changed({"chain": 2.2}, {"chain": 2.0}) == [
        "chain: 2.2 times the reference, 10.0% more than the stored 2.0"
    ]
    (line,) = instructions.changed({"chain": 1.5}, {"chain": 2.0})
    assert "Better! Store it" in line


def test_without_valgrind_counting_says_so(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(instructions.CountingError, match="valgrind is not installed"):
        instructions.count()
