"""Registering programs under the row of the semantics table that they show."""

from __future__ import annotations

from collections.abc import Callable

from parity.observe import Program

PROGRAMS: dict[str, Program] = {}


def shows(row: str) -> Callable[[Program], Program]:
    """Register a program; `row` is a section number and the row's name, such as "10 detect_anomaly"."""

    def register(program: Program) -> Program:
        name = f"{row}: {program.__name__}"
        assert name not in PROGRAMS, name
        PROGRAMS[name] = program
        return program

    return register
