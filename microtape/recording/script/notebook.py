"""The code cells of a notebook, as a program: a magic or a line for the shell does nothing, and keeps its line.

Note [Cells]
  Code cells are counted from 1, as Jupyter counts them when it runs all of a fresh notebook. Each cell is a source file
  by itself, `book.ipynb: cell 3`, in recordings and in tracebacks, so that lines are counted within their cell.
"""

from __future__ import annotations

import json
import linecache
import os
import re
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

from microtape.errors import RecordingError

_CELL = ": cell "
_NOT_PYTHON = re.compile(r"\s*(?:[%!?]|[\w.]+\?{1,2}\s*$|[\w, ]+=\s*[%!])")  # %matplotlib, !ls, ?x, x?, files = !ls
_OF_A_STATEMENT = re.compile(r"(\s*)%(?:time|timeit|prun)\s+(?!-)(?=\S)")  # what follows is Python
_OF_A_CELL = re.compile(r"%%(\w+)")
_AROUND_PYTHON = ("capture", "prun", "time", "timeit")  # magics of a cell whose other lines are Python


class Cell(NamedTuple):
    """A code cell: the name of its source file, and its text as it runs."""

    name: str
    text: str


def is_notebook(file: str) -> bool:
    """Whether a file is a notebook, by its name."""
    return file.endswith(".ipynb")


def cell_name(file: str, number: int) -> str:
    """The name of a cell's source file; see Note [Cells]."""
    return f"{file}{_CELL}{number}"


def read_cells(file: str) -> list[Cell]:
    """The code cells of a notebook of Python, in their order.

    Raises:
        RecordingError: it is not one; the message says why.
    """
    name = os.path.basename(file)
    try:
        with open(file, encoding="utf-8") as opened:
            book = json.load(opened)
        if book["nbformat"] < 4:
            raise RecordingError(f"{name}: a notebook of before 2015: save it with Jupyter of today")
        language = _language(book)
        if language != "python":
            raise RecordingError(f"{name}: a notebook of {language}, not of Python")
        texts = ["".join(one["source"]) for one in book["cells"] if one["cell_type"] == "code"]
    except RecordingError:
        raise
    except OSError as error:
        raise RecordingError(f"{file}: cannot be read: {error.strerror}") from None
    except json.JSONDecodeError as error:
        raise RecordingError(f"{name}: not a notebook: line {error.lineno} is not JSON ({error.msg})") from None
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError):
        raise RecordingError(f"{name}: not a notebook: it has no list of cells as Jupyter writes it") from None
    return [Cell(cell_name(file, number), as_python(text)) for number, text in enumerate(texts, 1)]


def text_of_cell(name: str) -> str | None:
    """The text that a cell has by now, by the name of its source file; None for the name of another file.

    Raises:
        RecordingError: the notebook cannot be read, or has no such cell.
    """
    file, _, number = name.rpartition(_CELL)
    if not (is_notebook(file) and number.isdecimal()):
        return None
    cells = {one.name: one.text for one in read_cells(file)}
    if name not in cells:
        raise RecordingError(f"{os.path.basename(file)}: there is no cell {number}")
    return cells[name]


def run_cells(cells: list[Cell], namespace: dict[str, Any]) -> None:
    """Run cells one after the other. A name that Jupyter adds, `display`, prints."""
    namespace["display"] = print
    for name, text in cells:
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec", dont_inherit=True), namespace)


def as_python(text: str) -> str:
    """A cell as Python: each line that is none becomes a `pass` with the line as its comment.

    Python itself says where it does not understand a cell, so that a string or an expression may have any lines.
    """
    lines = text.split("\n")
    if (magic := _OF_A_CELL.match(text)) is not None:
        if magic[1] not in _AROUND_PYTHON:
            return "\n".join(f"# {line}" for line in lines)
        lines[0] = f"pass  # {lines[0]}"
    for at in _not_python(lines):
        statement = _OF_A_STATEMENT.match(lines[at])
        if statement is not None:
            lines[at] = statement[1] + lines[at][statement.end() :]
            continue
        indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        goes_on = lines[at].endswith("\\")
        lines[at] = f"{indent}pass  # {lines[at].strip()}"
        while goes_on and at + 1 < len(lines):
            at += 1
            goes_on = lines[at].endswith("\\")
            lines[at] = f"{indent}# {lines[at].strip()}"
    return "\n".join(lines)


def _not_python(lines: list[str]) -> Iterator[int]:
    """The indices of lines for Jupyter, one after the other; the caller changes each before it asks for the next."""
    for _ in range(len(lines)):
        try:
            with warnings.catch_warnings(action="ignore"):  # the run will tell of them
                compile("\n".join(lines), "<cell>", "exec", dont_inherit=True)
            return
        except SyntaxError as error:
            at = (error.lineno or 0) - 1
        except ValueError:  # a null character: the program will say so
            return
        if not (0 <= at < len(lines) and _NOT_PYTHON.match(lines[at])):
            return  # a mistake in Python, of which the run will tell
        yield at


def _language(book: dict[str, Any]) -> str:
    about = book.get("metadata", {})
    named = about.get("language_info", {}).get("name") or about.get("kernelspec", {}).get("language") or "python"
    return str(named).lower()
