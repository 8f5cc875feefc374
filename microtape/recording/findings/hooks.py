"""Hooks: where they stand, and those that make a gradient zero."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeGuard

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline, join
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import BackwardStep, HookCall, Place
from microtape.recording.model.source import place_in

_OF_MODULES = ("register_full_backward_hook", "register_full_backward_pre_hook")


def hook_at(program: Program, hook: str) -> Place | None:
    """Where a hook returns, by its name; for a lambda, where it is registered, if there is only one."""
    name = hook.rpartition(".")[2]
    found = []
    for file, tree in program.trees:
        for one in ast.walk(tree):
            if isinstance(one, ast.FunctionDef) and one.name == name:
                returns = [each for each in ast.walk(one) if isinstance(each, ast.Return)]
                found.append(place_in(program.recording, file, returns[-1] if returns else one, hook))
            elif name == "<lambda>" and _registers_a_lambda(one):
                found.append(place_in(program.recording, file, one, hook))
    return found[0] if len(found) == 1 else None


def _registers_a_lambda(tree: ast.AST) -> TypeGuard[ast.Call]:
    """Whether this is `x.register_hook(lambda g: ...)`, or the like."""
    match tree:
        case ast.Call(func=ast.Attribute(attr=attr), args=args):
            return "hook" in attr and any(isinstance(one, ast.Lambda) for one in args)
    return False


def zeroing_hook(program: Program, step: BackwardStep) -> HookCall | None:
    """The hook of a step that got more than zeros, and gave back nothing else."""
    if not step.hooks:
        return None
    largest = program.sizes.largest
    return next((one for one in step.hooks if largest(one.before) > 0 and _is_zero(program, one)), None)


def _is_zero(program: Program, hook: HookCall) -> bool:
    return hook.after is not None and program.sizes.is_zero(hook.after)


def by_a_hook(program: Program, position: int, step: BackwardStep, hook: HookCall, names: Sequence[str]) -> Finding:
    """The finding for leaves whose gradient a hook has made zero. A hook of the leaf's own may be how it is frozen."""
    node, whose = program.node(step.node), join(names, 3)
    name = hook.name.rpartition(".")[2]
    place = hook_at(program, hook.name)
    if place is None and (module_hook := _hook_of_a_module(program)):
        name, place = module_hook, hook_at(program, module_hook)
    text = headline(
        f"The gradient of {whose} is zero: the hook {name} makes it so at {at(place)}",
        f"A hook makes the gradient of {whose} zero, at {at(place)}",
        f"A hook makes the gradient of {len(set(names))} leaves zero, at {at(place)}",
    )
    received = format_number(program.sizes.largest(hook.before))
    lines = (
        f"The hook {name} of {program.name(node.id)} got gradients up to {received} and gave back zeros.",
        f"Nothing else reaches {join(names)}.",
    )
    is_leaf = node.variable is not None
    remedy = "Look at what the hook multiplies with, or sets to zero: it leaves nothing of the gradient."
    return Finding(
        "zero gradient", "notice" if is_leaf else "warning", text, lines, remedy, place or node.place, position,
        step.index, node.id, program.tensor_of(node),
    )  # fmt: skip


def _hook_of_a_module(program: Program) -> str:
    """The function that the program registers on a module, if there is only one; PyTorch wraps it in one of its own."""
    found = {
        one.args[0].id
        for _, tree in program.trees
        for one in ast.walk(tree)
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in _OF_MODULES
        and one.args and isinstance(one.args[0], ast.Name)
    }  # fmt: skip
    return found.pop() if len(found) == 1 else ""
