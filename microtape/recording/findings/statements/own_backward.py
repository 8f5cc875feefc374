"""A `backward` that a module defines: autograd calls that of a Function only."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.model import Place
from microtape.recording.model.source import INSTALLED, text_of, tree_of


def never_asked_for(program: Program) -> Iterator[Finding]:
    """A finding for each module that is used, and whose `backward` takes a gradient that nobody gives it."""
    sources = {file: text for file, text in program.recording.sources.items() if not file.startswith(INSTALLED)}
    if any(_gives_gradients(text) for text in sources.values()):
        return
    for file, text in sources.items():
        for module, method in _methods(text):
            if not any(f"{module}(" in other for other in sources.values()):
                continue
            begin = text.split("\n")[method.lineno - 1]
            place = Place(file, method.lineno, method.lineno, method.col_offset, len(begin), f"{module}.backward")
            yield Finding(
                "no effect", "warning",
                headline(f"{module}.backward at {at(place)} is never called: {module} is a module",
                         f"{module}.backward at {at(place)} is never called",
                         f"The backward of a module at {at(place)} is never called"),
                (f"Backward goes through what {module}.forward computes, and does not know of {module}.backward.",
                 "Only a Function has a backward of its own, which it is given by torch.autograd.Function.apply."),
                "Move forward and backward into a torch.autograd.Function, as static methods with ctx, and call its "
                "apply in the forward of the module.",
                place,
            )  # fmt: skip


@functools.lru_cache(maxsize=64)
def _methods(source: str) -> Sequence[tuple[str, ast.FunctionDef]]:
    """The methods `backward(self, grad)` of the modules in a source text, each with the module's name."""
    found = []
    for node in ast.walk(tree_of(source) or ast.Module([], [])):
        if isinstance(node, ast.ClassDef) and any(text_of(one).endswith("Module") for one in node.bases):
            for one in node.body:
                if isinstance(one, ast.FunctionDef) and one.name == "backward" and _takes_gradient(one):
                    found.append((node.name, one))
    return found


def _takes_gradient(method: ast.FunctionDef) -> bool:
    names = [one.arg for one in method.args.args]
    return len(names) > 1 and names[0] == "self" and not method.decorator_list and "grad" in names[1]


@functools.lru_cache(maxsize=64)
def _gives_gradients(source: str) -> bool:
    """Whether something calls a `backward` with an argument, as an engine of the program's own does."""
    calls = (one for one in ast.walk(tree_of(source) or ast.Module([], [])) if isinstance(one, ast.Call))
    return any(isinstance(one.func, ast.Attribute) and one.func.attr == "backward" and bool(one.args) for one in calls)
