"""Terms of a loss that ask for nothing: at their minimum, or beyond the bound up to which they count."""

from __future__ import annotations

from typing import Any

import numpy as np

from microtape.recording.findings.program import Program
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import NodeRecord

LOSSES = ("mse_loss", "smooth_l1_loss", "huber_loss", "l1_loss")
_WITH_LIMITS = ("sigmoid", "tanh", "erf")  # 0, 1 and -1
_BOUNDING = ("max", "maximum", "min", "minimum", "clamp", "clamp_min", "clamp_max", "clip")


def bound_of(program: Program, node: NodeRecord) -> tuple[str, str] | None:
    """A single number and the bound that is taken in its place, as by `max(kl, 3)`; None if a node does otherwise."""
    results = program.results(node)
    ref = next((one.ref for edge, one in zip(node.edges, node.operands, strict=False) if edge.node is not None), None)
    given = program.recording.value(ref)
    if not program.does(node, *_BOUNDING) or not isinstance(given, np.ndarray) or given.shape:
        return None
    taken = results[0] if results else None
    if not isinstance(taken, np.ndarray) or taken.shape or taken == given or not np.isfinite(taken):
        return None
    return format_number(given.item()), format_number(taken.item())


def has_no_residual(program: Program, node: NodeRecord) -> bool:
    """Whether a loss compares two tensors that are equal, as the distance from where a search begins is 0 at first."""
    if not program.does(node, *LOSSES):
        return False
    values = [program.recording.value(one.ref) for one in node.operands if one.ref is not None]
    match values[:2]:
        case [np.ndarray() as one, np.ndarray() as other]:
            return np.array_equal(one, other)
    return False


def may_be_saturated(program: Program, node: NodeRecord) -> bool:
    """Whether the result of an activation is at its limits; not if a hook has packed what it saved as integers."""
    value: Any = program.results(node)[0] if program.results(node) else None
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f" or not program.does(node, *_WITH_LIMITS):
        return True
    with np.errstate(all="ignore"):
        return bool((np.abs(value * (1 - np.abs(value))) <= np.finfo(value.dtype).eps).all())
