"""What a recording says of itself: what could not be recorded, and a version of torch that was not tried."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from microtape.recording.pytorch.operations.operations import Operations
from microtape.recording.pytorch.reading.values import Values

_EXAMPLES = "tensors inside of vmap (and of jacrev, hessian) stand for many examples at once; their values are unknown"
_FORWARD = "derivatives in forward mode (jvp, jacfwd, forward_ad) have no backward pass and are not recorded"
_OLDEST, _NEWEST = (2, 4), (2, 14)
_UNTRIED = "recorded on torch {version}; microtape was tried with 2.4 to 2.14"


def remarks(values: Values, operations: Operations) -> Iterator[str]:
    """Sentences about what was recorded."""
    if values.met_examples:
        yield _EXAMPLES
    if operations.duals_were_made:
        yield _FORWARD
    if not _OLDEST <= _version(torch.__version__) <= _NEWEST:
        yield _UNTRIED.format(version=torch.__version__)


def _version(text: str) -> tuple[int, ...]:
    """`(2, 13)` for `2.13.0+cpu`."""
    return tuple([int(part) for part in text.split("+")[0].split(".")[:2] if part.isdigit()])
