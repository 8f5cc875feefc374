"""The figures of a check: what it counted, when, and on what kind of machine, as a file of JSON."""

from __future__ import annotations

import json
import os
import platform
from datetime import UTC, datetime
from pathlib import Path


def _load() -> dict[str, str]:
    """How busy the machine is, where that is known: times depend on it."""
    if not hasattr(os, "getloadavg"):
        return {}
    return {"load": f"{os.getloadavg()[1]:.0f} processes were running or waiting to run"}


def write_figures(path: Path, **counted: int | float | str | list[list[str]]) -> None:
    """Write what a check has counted to a file."""
    made = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": f"{platform.system()} on {platform.machine()}, {os.cpu_count()} processors, "
        f"Python {platform.python_version()}",
        **_load(),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**made, **counted}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
