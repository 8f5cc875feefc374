"""What a call saves for backward, read off the parameters of its operation's formulas.

Note [What is saved]
  A formula names what it needs: `def grad_x(self, g, _x, y): return g * y`. A name that starts with an underscore is
  not needed, `z` is the operation's result, and a name that is neither operand nor result is an attribute of the node
  that holds a tensor without gradient, such as a gather's `index`. A tensor that one formula alone needs is saved only
  if that formula will be used: `2 * y` saves the constant and not `y`. What several formulas share is always saved.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any, TypeAlias

SavePlan: TypeAlias = "tuple[int | str | None, ...]"
"""For each saved name: an operand's number, -1 (-2, ...) for the first (second, ...) result, the name of an attribute
of the node, or None where it is not needed."""


def formula_parameters(formula: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a formula's parameters after `self` and `g`; `inspect.signature` takes twenty times as long."""
    code = formula.__code__
    return code.co_varnames[2 : code.co_argcount]


ONLY_RESULT: SavePlan = (-1,)
"""The plan of `z = eˣ  ∂z/∂x = z`; the same object each time, so that `is` recognises it."""


@functools.cache
def plan_of_all(count: int) -> SavePlan:
    """The plan of saving so many operands; the same object each time, too."""
    return tuple(range(count))


@functools.cache
def read_save_plans(
    operands: tuple[str, ...], results: tuple[str, ...], rows: tuple[tuple[str, ...], ...]
) -> tuple[tuple[str, ...], tuple[int, ...], dict[tuple[bool, ...], SavePlan]]:
    """Saved names, their sources and the plans for formulas with these parameters, which many operations share."""
    names = tuple([name.lstrip("_") for name in rows[0]])
    assert all(tuple([name.lstrip("_") for name in row]) == names for row in rows), rows
    needed = [name for row in rows for name in row]
    always = {name for name in needed if len(rows) == 1 or needed.count(name) > 1}
    sources = tuple([operands.index(name) if name in operands else -1 for name in names])
    found = [
        source if source >= 0 else -1 - results.index(name) if name in results else name
        for name, source in zip(names, sources, strict=True)
    ]
    plans: dict[tuple[bool, ...], SavePlan] = {}
    for mask in itertools.product((False, True), repeat=len(rows)):
        used = always.union(*itertools.compress(rows, mask))
        plan = tuple([one if name in used else None for name, one in zip(names, found, strict=True)])
        for known in (plan_of_all(len(operands)), ONLY_RESULT):
            plan = known if plan == known else plan
        plans[mask] = plan
    return names, sources, plans
