"""Writes a program, compares it on both modules, and shrinks it if it differs."""

from __future__ import annotations

from collections.abc import Callable, Collection

from tests.parity.random.compare import differences, signature
from tests.parity.random.program import Program, listing
from tests.parity.random.session import Session
from tests.parity.random.shrinking import shrunk
from tests.parity.random.topics import ALL, write


def check(
    seed: int, topics: Collection[str] = ALL, *, tell: Callable[[str], None] = lambda stage: None, shrink: bool = True
) -> str:
    """Write and compare the program with this number; a text if it differs.

    `tell` is called with "written" once it has run on torch, and with "differs" before it is shrunk.
    """
    import torch

    import microtape

    program, theirs = write(seed, torch, topics)
    tell("written")
    differs = differences(theirs, Session(microtape).run(program))
    if not differs:
        return ""
    differs = found(program)  # on torch, a look at a view's history while it is written may have renewed that
    if not differs:
        return ""
    tell("differs")
    return report(program, seed) if shrink else "\n".join([f"# program {seed}", *differs])


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
