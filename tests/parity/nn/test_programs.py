"""Programs with modules observe the same on torch and on microtape."""

from __future__ import annotations

import pytest

import microtape
from tests.parity.nn import programs_hooks, programs_init, programs_module
from tests.parity.observe import Program, differences, run

PROGRAMS = [*programs_module.PROGRAMS, *programs_hooks.PROGRAMS, *programs_init.PROGRAMS]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_observes_what_it_observes_on_torch(program: Program) -> None:
    import torch

    found = differences(run(program, torch), run(program, microtape))
    assert not found, "\n".join(found)
