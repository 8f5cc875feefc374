"""What a recorder can be asked: which engine to watch, and which gradients to check."""

from __future__ import annotations

from typing import Literal, TypeAlias

Engine: TypeAlias = Literal["microtape", "torch"]
NAMES: dict[Engine, str] = {"microtape": "microtape", "torch": "PyTorch"}

OWN_ENGINE = "own_engine"
"""The option of a recording that an engine of the user's own has written, with a `RecordingWriter`."""

Check: TypeAlias = Literal["all", "functions"] | tuple[int, int]
"""Which gradients are checked: of all nodes, of the user's Functions, or of one step, as (pass index, step index)."""
