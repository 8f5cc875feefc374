"""The rules of recorded nodes, evaluated with the recorded numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from microtape.recording.model.arithmetic import evaluate
from microtape.recording.model.formula import agrees, element, gradient_of, index_of_largest, used_symbols
from microtape.recording.model.formula_names import symbol_values
from microtape.recording.model.model import BackwardStep, NodeRecord, Recording
from tests.parity_ops.rows import operands
from tests.parity_ops.table import ROWS

_MOST = 6  # elements of a gradient

EDGES = (
    "NaN",
    "infinite gradient",
    " at 0",
    "outside",
    "0 ** x",
    "0 tensor ** x",
    "softplus beta",  # the derivative is 1 above a threshold
    "selu",  # its constants have more digits than a formula shows
    "quantile several",  # writes over the operands of its lerp
)
"""Parts of the names of rows for which a formula is not exact."""


def contradictions(module: Any, recorder: type, part: slice) -> list[tuple[str, str, float, float]]:
    """(row, rule, what the rule gives, what was sent) of rows whose rules give other gradients than were recorded."""
    found = []
    for row in ROWS[part]:
        if any(edge in row.name for edge in EDGES):
            continue
        with recorder() as recording:
            _run(row, module)
        found += [(row.name, *one) for one in evaluated_rules(recording.recording) if not agrees(*one[1:], np.float32)]
    return found


def _run(row: Any, module: Any) -> None:
    """A row's program, which may raise."""
    try:
        module.manual_seed(0)
        result = row.call(module, *operands(row, module))
        outputs = result if isinstance(result, tuple | list) else [result]
        roots = [one for one in outputs if one.requires_grad]
        module.autograd.backward(roots, [module.ones_like(one) for one in roots])
    except Exception:
        return


def evaluated_rules(recording: Recording) -> Iterator[tuple[str, float, float]]:
    """(rule, what it gives at an element, what was sent there) of the rules that are arithmetic."""
    for one in recording.passes:
        for step in one.steps:
            yield from _evaluated(recording, recording.nodes[step.node], step)


def _evaluated(recording: Recording, node: NodeRecord, step: BackwardStep) -> Iterator[tuple[str, float, float]]:
    values = symbol_values(recording, node, step) | ({"g": step.grad_outputs[0]} if step.grad_outputs else {})
    for one in step.deliveries:
        rule, term = gradient_of(node, one.output), one.term
        if rule is None or not isinstance(term, np.ndarray) or term.dtype.kind != "f" or not term.size:
            continue
        for at in [index_of_largest(term), *list(np.ndindex(*term.shape))[:_MOST]]:
            known = {name: element(values.get(name), term.shape, at) for name in used_symbols(rule.whole)}
            computed = evaluate(rule.whole, {name: number for name, number in known.items() if number is not None})
            if computed is not None:
                yield rule.whole, computed, float(term[at])
