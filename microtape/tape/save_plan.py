"""What a call saves for backward, derived from the parameters of the operation's gradient formulas.

Note [What is saved]
  The parameters of a gradient formula are the tensors to save: `def grad_x(self, g, _x, y): return g * y`. A parameter
  whose name starts with an underscore is not used. `z` is the operation's result, and a name that is neither an operand
  nor a result is an attribute of the node, a tensor without a gradient such as the `index` of a gather. A tensor that
  only one formula uses is saved only if that formula will run: `2 * y` saves the constant 2 and not `y`. A tensor that
  several formulas use is always saved.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any, TypeAlias

SavePlan: TypeAlias = "tuple[int | str | None, ...]"
"""What to save under each name: the number of an operand, -1 (-2, ...) for the first (second, ...) result, the name of
an attribute of the node, or None if no formula that will run uses it."""


def formula_parameters(formula: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a formula's parameters after `self` and `g`; `inspect.signature` would take twenty times as long."""
    code = formula.__code__
    return code.co_varnames[2 : code.co_argcount]


ONLY_RESULT: SavePlan = (-1,)
"""The plan of operations such as `z = eˣ  ∂z/∂x = z`. All of them share this object: it is compared with `is`."""


@functools.cache
def plan_of_all(count: int) -> SavePlan:
    """The plan that saves all of `count` operands; cached, because it is compared with `is`, too."""
    return tuple(range(count))


@functools.cache
def read_save_plans(
    operands: tuple[str, ...], results: tuple[str, ...], rows: tuple[tuple[str, ...], ...]
) -> tuple[tuple[str, ...], tuple[int, ...], dict[tuple[bool, ...], SavePlan]]:
    """The saved names, their `sources` (see Node), and the plan for each mask of receivers.

    `rows` are the parameters of each formula. Cached, because many operations have formulas with the same parameters.
    """
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
