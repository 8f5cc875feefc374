"""Registering programs under the row of the semantics table that they show."""

from __future__ import annotations

from collections.abc import Callable

from parity.observe import Program

PROGRAMS: dict[str, Program] = {}
DIFFERENCES: dict[str, str] = {}  # the name of a program that microtape runs differently on purpose -> how


def shows(row: str, *, differs: str = "") -> Callable[[Program], Program]:
    """Register a program; `row` is a section number and the row's name, such as "1 is_leaf"."""

    def register(program: Program) -> Program:
        name = f"{row}: {program.__name__}"
        assert name not in PROGRAMS, name
        PROGRAMS[name] = program
        if differs:
            DIFFERENCES[name] = differs
        return program

    return register
