"""Every smooth row of the table: its first and second derivatives are what finite differences say. No torch needed."""

from __future__ import annotations

import pytest

import microtape
from microtape.autograd import gradcheck, gradgradcheck
from parity_ops.rows import operands
from parity_ops.table import ROWS

SMOOTH = [row for row in ROWS if row.smooth]


def call_and_inputs(row):
    """The row's call as a function of those operands that require grad, and these."""
    made = operands(row, microtape)
    wanted = [i for i, operand in enumerate(made) if operand.requires_grad]

    def function(*inputs):
        arguments = list(made)
        for i, one in zip(wanted, inputs, strict=True):
            arguments[i] = one
        return row.call(microtape, *arguments)

    return function, [made[i] for i in wanted]


@pytest.mark.parametrize("row", SMOOTH, ids=[row.name for row in SMOOTH])
def test_a_row_has_the_derivatives_that_finite_differences_have(row):
    function, inputs = call_and_inputs(row)
    assert gradcheck(function, inputs)
    assert gradgradcheck(function, inputs)
