"""Randomly written programs observe the same on torch and on microtape after every statement.

A normal run has 1,500 of them, always the same ones. MICROTAPE_RANDOM_PROGRAMS=10000 runs that many new ones.
`python -m tests.parity.random 1 --start SEED` repeats one, in a process of its own.
"""

from __future__ import annotations

import os
import secrets

import numpy as np
import pytest

from tests.parity.observe import Value
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


def test_a_known_difference_explains_what_it_names_and_nothing_else():
    from tests.parity.random.compare import differences
    from tests.parity.random.session import Seen

    def seen(source, log, gradient):
        in_level = {"in_level": True, "had_level": True, "past": frozenset({"tangents have a history"})}
        return [Seen(0, source, log=log, gradients=[("x1", Value(np.array(gradient), False), True)], **in_level)]

    packed = [("pack p1", False)]
    assert differences(seen("x2 = x1 * x1", packed, 1.0), seen("x2 = x1 * x1", [], 1.0)) == []
    for log in (packed, []):
        found = differences(seen("x2 = x1 * x1", log, 1.0), seen("x2 = x1 * x1", [], 2.0))
        assert any(one.startswith("gradients") for one in found)


def test_the_order_of_what_is_logged_does_not_matter_after_a_recorded_pass():
    from tests.parity.random.compare import differences
    from tests.parity.random.session import Seen

    def seen(*gradients):
        log = [("F1.backward", Value(np.array(one), False)) for one in gradients]
        return [Seen(0, "x1.backward(create_graph=True)", log=log)]

    assert differences(seen(1.0, 2.0, 1.0), seen(1.0, 1.0, 2.0)) == []
    assert differences(seen(1.0, 2.0, 1.0), seen(1.0, 2.0, 2.0))
    assert differences(seen(1.0, 2.0), seen(1.0, 2.0, 1.0))
