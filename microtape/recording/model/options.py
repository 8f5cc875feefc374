"""What a recorder can be asked: which engine to watch, and which gradients to check."""

from __future__ import annotations

from typing import Literal, TypeAlias

Engine: TypeAlias = Literal["microtape", "torch"]
NAMES: dict[Engine, str] = {"microtape": "microtape", "torch": "PyTorch"}

Check: TypeAlias = Literal["all", "functions"] | tuple[int, int]
"""Which gradients are checked: of all nodes, of the user's Functions, or of one step, as (pass index, step index)."""
