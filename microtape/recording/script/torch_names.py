"""Lets a script that says `import torch` run on microtape: for `--engine microtape`."""

from __future__ import annotations

import ast

from microtape.basics.devices import ELSEWHERE
from microtape.basics.renamed import Renamed

_OURS, _TORCH = "microtape", "torch"


def says_torch_alone(tree: ast.Module) -> bool:
    """Whether a script imports torch, but not microtape: a script that imports both means both."""
    imported = set()
    for one in ast.walk(tree):
        if isinstance(one, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in one.names}
        elif isinstance(one, ast.ImportFrom) and one.module and not one.level:
            imported.add(one.module.partition(".")[0])
    return _TORCH in imported and _OURS not in imported


def torch_names() -> Renamed:
    """Finds microtape where a program imports torch."""
    return Renamed(_TORCH, _OURS, f"microtape has no {{}}; {ELSEWHERE}")
