"""What `python` runs for a word of its command line: a script, a folder with `__main__.py`, or with -m a module.

A notebook, which `python` cannot run, is one more kind; see `notebook.py`.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder
from typing import NamedTuple

from microtape.errors import RecordingError
from microtape.recording.script.notebook import is_notebook, read_cells

_MAIN = "__main__"
_NO_PACKAGE = "attempted relative import with no known parent package"


class Program(NamedTuple):
    """A program that can be run."""

    title: str  # the script's or the folder's name, or the module's
    argv0: str  # what `sys.argv[0]` is
    file: str  # whose code is run
    module: str | None  # its name among modules: `package.module`, or `__main__` of a folder; None: a script
    root: str  # the folder to which the names of its files are relative
    imports_from: str  # the first entry of `sys.path`


def find_program(named: str | os.PathLike[str], *, is_module: bool = False) -> Program:
    """Find the program that a path names, or a module by its name. Nothing of the program runs.

    Raises:
        RecordingError: there is none.
    """
    name = os.fspath(named)
    if is_module:
        file, module = _find_module(name)
        folder = os.getcwd()
        return Program(name, file, file, module, folder, folder)
    if os.path.isdir(name):
        folder, file = os.path.abspath(name), os.path.abspath(os.path.join(name, f"{_MAIN}.py"))
        if not os.path.isfile(file):
            raise RecordingError(f"{name}: a folder without {_MAIN}.py: name the .py file in it")
        return Program(os.path.basename(folder), name, file, _MAIN, folder, folder)
    file = os.path.abspath(name)
    _check_script(name)
    if is_notebook(name):
        read_cells(name)
    return Program(
        os.path.basename(name), name, file, None, os.path.dirname(file), os.path.dirname(os.path.realpath(name))
    )


def hint_for(program: Program, error: BaseException) -> str | None:
    """The line below a script's ImportError if it is part of a package, which Python knows only of a module."""
    if program.module not in (None, _MAIN) or not isinstance(error, ImportError) or _NO_PACKAGE not in str(error):
        return None
    folder, file = os.path.split(os.path.realpath(program.file))
    names = [os.path.splitext(file)[0]]
    while os.path.isfile(os.path.join(folder, "__init__.py")) and os.path.basename(folder):
        folder, package = os.path.split(folder)
        names.insert(0, package)
    if len(names) == 1:  # perhaps of a package without __init__.py
        folder = os.path.realpath(os.getcwd())
        names = os.path.splitext(os.path.relpath(os.path.realpath(program.file), folder))[0].split(os.sep)
    if len(names) == 1 or not all(map(str.isidentifier, names)):
        return None
    names = names[:-1] if names[-1] == _MAIN else names
    at = "" if folder == os.path.realpath(os.getcwd()) else f" in the folder {folder}"
    return f"microtape: {program.title} is part of a package: name it as a module, -m {'.'.join(names)}{at}"


def _check_script(script: str) -> None:
    if script == "-" or (os.path.exists(script) and not os.path.isfile(script)):
        raise RecordingError(f"{script}: not a file: save the script to one, and name that")
    try:
        with open(script, "rb") as file:
            start = file.read(4096)
    except OSError as error:
        raise RecordingError(f"{script}: cannot be read: {error.strerror}") from None
    if b"\0" in start:
        raise RecordingError(f"{script}: not a Python program")


def _find_module(name: str) -> tuple[str, str]:
    """The file of a module, and the module's full name: for a package, those of its `__main__`.

    Looks where `python -m` looks, but imports no package on the way.
    """
    places = list(sys.path) if os.environ.get("PYTHONSAFEPATH") else [os.getcwd(), *sys.path]
    whole = ""
    for part in name.split("."):
        whole = f"{whole}.{part}" if whole else part
        spec = PathFinder.find_spec(part, places) if part else None  # not `whole`: its packages are not imported
        if spec is None:
            raise RecordingError(f"there is no module {whole} to be found from {os.getcwd()}")
        places = list(spec.submodule_search_locations or ())
    if places:
        whole = f"{whole}.{_MAIN}"
        spec = PathFinder.find_spec(_MAIN, places)
    if spec is None:
        raise RecordingError(f"{name} is a package without {_MAIN}.py: name a module in it")
    if spec.origin is None or not spec.origin.endswith(".py"):
        raise RecordingError(f"{name} is not a module of Python source")
    return spec.origin, whole
