"""The endings of the files that pictures and films are written to."""

from __future__ import annotations

import os
from pathlib import Path

from viz.basics.errors import DrawError


def picture_format(path: str | os.PathLike[str]) -> str:
    """The format of a picture's file, by its ending.

    Raises DrawError for an ending that stands for none, and where there is no such folder.
    """
    _check_folder(path)
    return _format(path, (".svg", ".png", ".pdf", ".dot", ".gv", ".txt"), "the name")


def film_format(path: str | os.PathLike[str]) -> str:
    """The format of a film's file, as `picture_format`."""
    _check_folder(path)
    return ".html" if Path(path).suffix.lower() == ".htm" else _format(path, (".html", ".gif"), "the name of a film")


def _format(path: str | os.PathLike[str], known: tuple[str, ...], name: str) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in known:
        endings = " or ".join([", ".join(known[:-1]), known[-1]])
        raise DrawError(f"cannot tell the format of {str(path)!r}: {name} should end in {endings}")
    return suffix


def _check_folder(path: str | os.PathLike[str]) -> None:
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise DrawError(f"cannot write {str(path)!r}: there is no folder {folder!r}")
