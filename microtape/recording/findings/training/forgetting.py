"""Optimisers that are made anew for each step, so that what they keep of earlier gradients is lost."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline, join
from microtape.recording.model.model import Place
from microtape.recording.model.source import expression, only_expression, place_in, tree_of

_LOST_AVERAGE = "It averages over the gradients of earlier steps: here, each step knows the last gradient alone."
_LOSSES = {
    **dict.fromkeys(("Adam", "AdamW", "Adamax", "NAdam", "RAdam", "SparseAdam", "RMSprop", "Adadelta"), _LOST_AVERAGE),
    "Adagrad": "It makes its rate smaller where gradients have been large: here, it never does.",
    "Rprop": "It makes its rate smaller where the sign of the gradient has changed: here, it never does.",
    "SGD": "Its momentum is that of earlier steps: here, each is a step of plain gradient descent.",
}
"""By the kind of optimiser, what is lost."""
_BY_RATE = ("Adam", "AdamW", "Adamax", "SparseAdam")
_LOOP = ast.For | ast.AsyncFor | ast.While
_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


class _Made(NamedTuple):
    """The statement that makes an optimiser."""

    place: Place
    name: str  # of the variable
    kind: str  # of the optimiser
    inside: str  # what repeats it
    by: str = ""  # the call of a method that makes it


def forgetful_optimizers(program: Program) -> Iterator[Finding]:
    """One finding for each `.step()` of an optimiser that is made anew for each step, though its leaves stay."""
    recording = program.recording
    steps: dict[Place, dict[int, set[int]]] = {}  # by the line, then by the leaf: how many passes had begun before
    for one in recording.updates:
        if one.place is not None and one.change != 0 and ".step(" in expression(recording, one.place):
            steps.setdefault(one.place, {}).setdefault(one.tensor, set()).add(one.passes)
    for place, leaves in steps.items():
        again = sorted([leaf for leaf, passes in leaves.items() if len(passes) > 1])
        made = (_made_for(program, place) or _made_by_a_method(program, place)) if again else None
        if made is not None:
            yield _finding(program, place, made, again, sorted(leaves[again[0]]))


def _made_for(program: Program, step: Place) -> _Made | None:
    """What makes the optimiser of a step in the same loop or function, whenever that runs; None if nothing does."""
    text = program.recording.sources.get(step.file, "")
    call = only_expression(expression(program.recording, step))
    used = {ast.unparse(one) for one in ast.walk(call) if isinstance(one, ast.Name | ast.Attribute)} if call else set()
    repeated = [one for one in ast.walk(tree_of(text) or ast.Module([], [])) if isinstance(one, _LOOP | _FUNCTION)]
    around = [one for one in repeated if one.lineno <= step.line <= (one.end_lineno or one.lineno)]
    innermost = max(around, key=lambda one: one.lineno, default=None)
    if innermost is None or "load_state_dict" in ast.unparse(innermost):
        return None
    for statement in _always_run(innermost.body):
        match statement:
            case ast.Assign(targets=[ast.Name() | ast.Attribute() as target], value=ast.Call() as value):
                kind = ast.unparse(value.func).rpartition(".")[2]
                if ast.unparse(target) in used and _remembers(kind, value) and statement.lineno < step.line:
                    inside = "the loop" if isinstance(innermost, _LOOP) else f"{innermost.name}()"
                    return _Made(place_in(program.recording, step.file, value), ast.unparse(target), kind, inside)
    return None


def _made_by_a_method(program: Program, step: Place) -> _Made | None:
    """What makes the optimiser of a step in another method of its class, if that is called before each backward.

    Both methods are called for the same object, in the innermost loop or function around the backward.
    """
    recording = program.recording
    tree = tree_of(recording.sources.get(step.file, "")) or ast.Module([], [])
    call = only_expression(expression(recording, step))
    owner = call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
    class_, _, stepping = step.function.rpartition(".")
    classes = [one for one in ast.walk(tree) if isinstance(one, ast.ClassDef) and one.name == class_]
    if owner is None or not ast.unparse(owner).startswith("self.") or len(classes) != 1:
        return None
    for backward in dict.fromkeys(one.place for one in recording.passes):
        around = _innermost(tree, backward.line) if backward is not None and backward.file == step.file else None
        if around is None or "load_state_dict" in ast.unparse(around):
            continue
        calls = [one.value for one in _always_run(around.body)
                 if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)]  # fmt: skip
        called = {ast.unparse(one.func): one for one in calls}
        for method in classes[0].body:
            if not isinstance(method, ast.FunctionDef) or method.name in ("__init__", stepping):
                continue
            kinds = {ast.unparse(one.func).rpartition(".")[2] for one in _makers(method.body, ast.unparse(owner))}
            for name, one in called.items() if kinds else ():
                if name.endswith(f".{method.name}") and f"{name.removesuffix(method.name)}{stepping}" in called:
                    inside = "the loop" if isinstance(around, _LOOP) else f"{around.name}()"
                    kind = kinds.pop() if len(kinds) == 1 else "optimiser"
                    return _Made(place_in(recording, step.file, one), ast.unparse(owner), kind, inside, f"{name}()")
    return None


def _innermost(tree: ast.Module, line: int) -> ast.For | ast.AsyncFor | ast.While | ast.FunctionDef | None:
    """The innermost loop or function around a line."""
    repeated = [one for one in ast.walk(tree) if isinstance(one, _LOOP | ast.FunctionDef)]
    around = [one for one in repeated if one.lineno <= line <= (one.end_lineno or one.lineno)]
    return max(around, key=lambda one: one.lineno, default=None)


def _makers(body: Sequence[ast.stmt], target: str) -> list[ast.Call]:
    """What makes an optimiser whenever these statements run: of an `if`, one in each branch. Empty if they may not."""
    for one in _always_run(body):
        match one:
            case ast.Assign(targets=[owner], value=ast.Call() as value) if ast.unparse(owner) == target:
                return [value] if _remembers(ast.unparse(value.func).rpartition(".")[2], value) else []
            case ast.If(body=first, orelse=second):
                branches = [_makers(first, target), _makers(second, target)]
                if all(branches):
                    return [*branches[0], *branches[1]]
                if any(isinstance(each, ast.Return | ast.Raise) for each in ast.walk(one)):
                    return []
            case ast.Return():
                return []
    return []


def _always_run(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run whenever a body does."""
    for one in body:
        yield one
        if isinstance(one, ast.With):
            yield from _always_run(one.body)


def _remembers(kind: str, made: ast.Call) -> bool:
    """Whether an optimiser keeps something of earlier gradients. LBFGS does, but makes many steps in one."""
    if kind != "SGD":
        return kind in _LOSSES
    given = [one.value for one in made.keywords if one.arg == "momentum"] + made.args[2:3]
    return any(not (isinstance(one, ast.Constant) and not one.value) for one in given)


def _finding(program: Program, step: Place, made: _Made, leaves: Sequence[int], passes: Sequence[int]) -> Finding:
    where, first = at(made.place), f"each time as the first step of a new {made.kind}"
    names = [program.tensor_name(one) for one in leaves]
    text = headline(
        f"{made.name} is made anew for each step at {where}, and forgets earlier gradients",
        f"{made.name} is made anew for each step at {where}",
        "An optimiser is made anew for each of its steps",
    )
    what = expression(program.recording, step)
    effect = _LOSSES.get(made.kind, "What it keeps of earlier gradients is lost.")
    if made.kind in _BY_RATE:
        effect = "The first step moves each element by the learning rate, however small its gradient is."
    lines = (
        f"{what} at {at(step)} has updated {join(names)} in {len(passes)} passes, {first}.",
        effect,
    )
    remedy = f"Make {made.name} once, outside of {made.inside}."
    if made.by:
        remedy = f"Call {made.by}, which makes {made.name}, once: outside of {made.inside}."
    return Finding(
        "forgetting", "warning", text, lines, remedy, made.place,
        max(passes[1] - 1, 0), None, None, leaves[0], (("updated", step),),
    )  # fmt: skip
