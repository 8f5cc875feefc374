"""What is said when a package is missing, which `pip install microtape` brings: of a bare installation only numpy."""

from __future__ import annotations

BROUGHT_BY = {
    "graphviz": "graphviz",
    "platformdirs": "platformdirs",
    "rich": "textual",
    "shtab": "shtab",
    "textual": "textual",
}
"""The modules that commands import, and the packages of ours that bring them."""


def what_is_missing(error: ModuleNotFoundError, command: str) -> str | None:
    """The line for the user, if the module that was not found is one of these; else None."""
    package = BROUGHT_BY.get((error.name or "").partition(".")[0])
    if package is None:
        return None
    return f"{command} needs the package {package}, which is not installed: pip install {package}"
