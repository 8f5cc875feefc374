"""The program as `__main__`, in the process that runs it."""

from __future__ import annotations

import ast
import importlib.util
import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType

from microtape.recording.script.notebook import is_notebook, read_cells, run_cells
from microtape.recording.script.program import Program


class MainProgram:
    """A program that is read, and compiled unless it is a notebook, whose cells are compiled one after the other.

    Raises SyntaxError, as `python` does before it runs anything.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._cells = read_cells(program.file) if is_notebook(program.file) else None
        if self._cells is None:
            with open(program.file, "rb") as file:
                self._text = file.read()
            self._code = compile(self._text, program.file, "exec", dont_inherit=True)

    def imports(self) -> ast.Module:
        """The syntax tree, for what it imports; of a notebook, without the cells that are no Python."""
        if self._cells is None:
            return ast.parse(self._text)
        tree = ast.Module([], [])
        for cell in self._cells:
            try:
                tree.body += ast.parse(cell.text).body
            except (SyntaxError, ValueError):  # it will be reported when it runs
                continue
        return tree

    def run(self) -> None:
        """Run it as `__main__`, as `python` would: a module imports the packages that it is in first."""
        file = self._program.file
        main = ModuleType("__main__")
        main.__builtins__ = __builtins__  # type: ignore[attr-defined]
        if self._cells is not None:
            sys.modules["__main__"] = main
            run_cells(self._cells, main.__dict__)
            return
        spec = self._spec()
        main.__file__ = file
        main.__loader__ = spec.loader if spec is not None else SourceFileLoader("__main__", file)
        main.__spec__, main.__package__ = spec, spec.parent if spec is not None else None
        sys.modules["__main__"] = main
        exec(self._code, main.__dict__)

    def _spec(self) -> ModuleSpec | None:
        module, root = self._program.module, self._program.root
        if module is None:
            return None
        return PathFinder.find_spec(module, [root]) if module == "__main__" else importlib.util.find_spec(module)
