"""Nobody else holds what the engine takes for fresh: see Note [Who owns a gradient] in `microtape.backward.engine`."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

import microtape
from microtape.backward import engine
from microtape.ops.elementwise.exponential import ExpBackward0
from tests.parity_ops.table import ROWS
from tests.parity_ops.test_table import observed

pytestmark = pytest.mark.parity

HOLDERS = 6  # the node's gradients, the engine's two variables, its buffer, and two parameters below


def kept_by_formulas(*, one_keeps: bool):
    """The nodes whose gradients somebody else holds, too, and how many gradients were looked at."""
    hoard, kept, seen = [], set(), 0
    is_fresh, formula = engine.is_fresh, ExpBackward0.grad_x

    def asked(node, term, arrived):
        nonlocal seen
        fresh = is_fresh(node, term, arrived)
        if fresh:
            seen += 1
            if sys.getrefcount(term) > HOLDERS:
                kept.add(node.name())
        return fresh

    def keeping(self, g, z):
        hoard.append(formula(self, g, z))
        return hoard[-1]

    engine.is_fresh = asked
    if one_keeps:
        ExpBackward0.grad_x = keeping
    for row in ROWS:
        observed(row, microtape)
    return kept, seen


def in_a_new_process(function, **arguments):
    """What a function returns where torch has compiled nothing: once it has, each call in the process holds more."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(function, **arguments).result()


def test_no_formula_keeps_a_gradient_that_the_engine_may_add_into():
    kept, seen = in_a_new_process(kept_by_formulas, one_keeps=False)
    assert kept == set()
    assert seen > len(ROWS) / 4


def test_a_gradient_that_somebody_holds_is_found_out():
    kept, _ = in_a_new_process(kept_by_formulas, one_keeps=True)
    assert "ExpBackward0" in kept
