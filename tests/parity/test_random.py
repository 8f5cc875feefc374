"""Randomly written programs observe the same on torch and on microtape after every statement.

A normal run has 1,500 of them, always the same ones. MICROTAPE_RANDOM_PROGRAMS=10000 runs that many new ones.
`python -m tests.parity.random 1 --start SEED` repeats one, in a process of its own.
"""

from __future__ import annotations

import os
import secrets

import pytest

from tests.parity.random.shrinking import shrunk

COUNT = int(os.environ.get("MICROTAPE_RANDOM_PROGRAMS", "0"))
CHUNKS = 20
"""The number of tests that the programs are divided among, to run in several processes."""


@pytest.fixture(scope="module")
def torch():
    import torch
    import torch.utils.checkpoint

    torch.set_num_threads(1)
    return torch


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_programs_do_what_they_do_on_torch(chunk, torch):
    from tests.parity.random.hunt import check

    count = -(-(COUNT or 1500) // CHUNKS)
    first = secrets.randbelow(10**12) if COUNT else chunk * count
    for seed in range(first, first + count):
        if text := check(seed):
            pytest.fail(text, pytrace=False)


def test_shrinking_leaves_what_is_needed():
    program = ("x = 1", "y = [2, 3]", "z = x + y[0]", "w = z * 2")
    assert shrunk(program, lambda one: any("y[0]" in statement for statement in one)) == ("z = y[0]",)
