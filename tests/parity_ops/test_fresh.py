"""Nobody else holds what the engine takes for fresh: see Note [Who owns a gradient] in `microtape.backward.engine`."""

from __future__ import annotations

import sys

import pytest

import microtape
from microtape.backward import engine
from microtape.ops.elementwise.exponential import ExpBackward0
from tests.parity_ops.table import ROWS
from tests.parity_ops.test_table import observed

pytestmark = pytest.mark.parity

HOLDERS = 6  # the node's gradients, the engine's two variables, its buffer, and two parameters below


def test_no_formula_keeps_a_gradient_that_the_engine_may_add_into(monkeypatch):
    is_fresh, kept, seen = engine.is_fresh, set(), 0

    def asked(node, term, arrived):
        nonlocal seen
        fresh = is_fresh(node, term, arrived)
        if fresh:
            seen += 1
            if sys.getrefcount(term) > HOLDERS:
                kept.add(node.name())
        return fresh

    monkeypatch.setattr(engine, "is_fresh", asked)
    for row in ROWS:
        observed(row, microtape)
    assert kept == set()
    assert seen > len(ROWS) / 4


def test_a_gradient_that_somebody_holds_is_found_out(monkeypatch):
    hoard = []
    formula = ExpBackward0.grad_x

    def keeping(self, g, z):
        hoard.append(formula(self, g, z))
        return hoard[-1]

    monkeypatch.setattr(ExpBackward0, "grad_x", keeping)
    with pytest.raises(AssertionError, match="ExpBackward0"):
        test_no_formula_keeps_a_gradient_that_the_engine_may_add_into(monkeypatch)
