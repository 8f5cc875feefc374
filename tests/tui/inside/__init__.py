"""Stepping inside of the user's functions."""

from functools import cache
from pathlib import Path

from microtape.recording.model.model import Recording
from tests.programs.corpus import record_program

PROGRAMS = Path(__file__).with_name("programs")


@cache
def recorded(name: str, check: str | None = None) -> Recording:
    """A recording of a program of this folder."""
    return record_program(PROGRAMS / f"{name}.py", check=check)[0]
