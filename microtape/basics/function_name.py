"""The name of a function of torch from the name of its node."""

from __future__ import annotations

import re

# Where a word begins, but not within Pool2D or Deg2Rad.
_BORDERS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=\d[A-Z])(?=[A-Z])|(?<=\d)(?=[A-Z][a-z]{3})")


def function_name(node_name: str) -> str:
    """`log_softmax` for `LogSoftmaxBackward0`, `avg_pool2d` for `AvgPool2DBackward0`."""
    return _BORDERS.sub("_", node_name.rstrip("0123456789").removesuffix("Backward")).lower()
