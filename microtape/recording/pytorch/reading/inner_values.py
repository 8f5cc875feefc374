"""Values inside of a call: a `linear` of a batch is view, addmm and view, and only the last result reaches the program.

The values of the others follow, where an operation only arranges the numbers anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from microtape.recording.model.model import NodeRecord, TensorRecord, TensorRef, Value

_RESHAPING = {
    "ViewBackward0", "UnsafeViewBackward0", "ReshapeAliasBackward0", "UnsqueezeBackward0", "SqueezeBackward0",
    "SqueezeBackward1", "SqueezeBackward2", "CloneBackward0", "AliasBackward0",
}  # fmt: skip
_MOST = 4096  # elements, as of the arrays that are kept whole by default


def fill_in(nodes: Sequence[NodeRecord], tensors: list[TensorRecord]) -> None:
    """Add values that were not recorded, of the results of nodes that rearrange others and of what these rearrange."""

    def value(ref: TensorRef) -> Value | None:
        return tensors[ref.tensor].values.get(ref.version)

    def put(ref: TensorRef, found: npt.NDArray[Any]) -> None:
        record = tensors[ref.tensor]
        if found.size <= _MOST and found.shape == record.shape:
            found.flags.writeable = False
            tensors[ref.tensor] = record._replace(values={**record.values, ref.version: found})

    rearranging = [
        (node.name, given, made)
        for node in nodes
        if (node.name in _RESHAPING or node.name in ("TBackward0", "ExpandBackward0"))
        and len(node.edges) == len(node.outputs) == 1
        and not node.in_place
        and (given := next((one.ref for one in node.operands), None)) is not None
        and (made := node.outputs[0]) is not None
    ]
    for name, given, made in rearranging:
        known = value(given)
        if value(made) is None and isinstance(known, np.ndarray):
            if name == "TBackward0":
                put(made, known.T)
            elif name == "ExpandBackward0":
                put(made, np.broadcast_to(known, tensors[made.tensor].shape))
            else:
                put(made, known.reshape(tensors[made.tensor].shape))
    for name, given, made in reversed(rearranging):
        known = value(made)
        if value(given) is None and isinstance(known, np.ndarray) and name in _RESHAPING:
            put(given, known.reshape(tensors[given.tensor].shape))
