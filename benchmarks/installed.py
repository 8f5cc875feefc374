"""The environment of an installed program."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def installed(folder: str) -> dict[str, str]:
    """Variables with which modules are compiled once, into `folder`, whatever the settings of this process."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**variables, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": os.path.join(folder, "compiled")}
