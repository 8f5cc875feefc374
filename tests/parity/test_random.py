"""Randomly generated programs observe the same on torch and on microtape at every instruction.

A normal run has 300 of them, always the same ones. MICROTAPE_RANDOM_PROGRAMS=10000 runs that many new ones.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings

import microtape
from tests.parity.observe import run
from tests.parity.random_programs import PROGRAMS, Instruction, Steps, differences_but_known, listing, program_of

COUNT = int(os.environ.get("MICROTAPE_RANDOM_PROGRAMS", "0"))


@settings(
    max_examples=COUNT or 300,
    derandomize=not COUNT,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(PROGRAMS)
def test_a_random_program_does_what_it_does_on_torch(instructions: list[Instruction]) -> None:
    import torch

    torch.set_warn_always(True)
    program = program_of(instructions)
    found = differences_but_known(run(program, torch, Steps), run(program, microtape, Steps))
    if found:
        pytest.fail("\n".join([*listing(instructions), *found]), pytrace=False)
