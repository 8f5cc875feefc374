"""Writes a program, compares it on both modules, and shrinks it if it differs."""

from __future__ import annotations

from collections.abc import Collection

from tests.parity.random.compare import differences, signature
from tests.parity.random.program import Program, listing
from tests.parity.random.session import Session
from tests.parity.random.shrinking import shrunk
from tests.parity.random.topics import ALL, write


def check(seed: int, topics: Collection[str] = ALL) -> str:
    """Write and compare the program with this number; a text if it differs."""
    import torch

    import microtape

    program, theirs = write(seed, torch, topics)
    if not differences(theirs, Session(microtape).run(program)):
        return ""
    if not found(program):
        return f"program {seed} differs only while it is written"
    return report(program, seed)


def found(program: Program) -> list[str]:
    """The differences between runs of the program on both modules."""
    import torch

    import microtape

    return differences(Session(torch).run(program), Session(microtape).run(program))


def report(program: Program, seed: int) -> str:
    """The shrunk program, and what it does on both modules."""
    import torch

    kind = signature(found(program))

    def fails(one: Program) -> bool:
        differs = found(one)
        return bool(differs) and signature(differs) == kind

    small = shrunk(program, fails)
    raising = [seen.number for seen in Session(torch).run(small) if seen.error]
    return "\n".join([f"# program {seed}, shrunk", listing(small, "microtape", raising), *found(small)])
