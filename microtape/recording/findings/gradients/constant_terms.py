"""Terms of a loss that are constants, and so change no gradient."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from microtape.recording.findings.cuts import is_gradient, reason_of, remedy_for
from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.cut_history import way_back
from microtape.recording.model.model import NodeRecord, Pass
from microtape.recording.model.source import expression, text_of, tree_of
from microtape.recording.tables.fields import field, picked

_SUMS, _SCALES = ("add", "sub", "rsub"), ("mul", "div", "neg")


def constant_penalties(program: Program) -> Iterator[Finding]:
    """A number that is added to a loss, and that came out of a gradient without `create_graph`.

    A gradient of the shape of its input may be meant as a constant, as for an adversarial example, and so may a factor.
    """
    if not any(map(is_gradient, program.recording.borders)):
        return
    for position, pass_ in enumerate(program.recording.passes):
        if pass_.kind != "backward":
            continue
        for node in map(program.node, sorted(pass_.nodes)):
            for ref in operand_refs(node) if program.does(node, "add", "sub", "rsub") else ():
                last = program.borders.get(ref)
                if last is None or program.recording.tensors[ref.tensor].shape:
                    continue
                border = next((one for one in way_back(last, program.borders) if is_gradient(one)), None)
                if border is None:
                    continue
                root, where = program.root_name(pass_), at(border.place)
                yield Finding(
                    "no gradient", "warning",
                    headline(f"A term of {root} is a constant: grad at {where} has no create_graph",
                             f"A term of {root} is a constant: grad without create_graph"),
                    (f"grad at {where} {reason_of(border)}.",
                     f"{program.ref_name(ref)}, made of it and used at {at(node.place)}, changes no gradient."),
                    remedy_for(border, ""), border.place, position, None, node.id, ref.tensor,
                    (("used", node.place),) if node.place is not None else (),
                )  # fmt: skip
                return


def bare_numbers(program: Program) -> Iterator[Finding]:
    """A term of a loss that `item()` or `float()` has made a number, though it was computed on the tape."""
    for position, pass_ in enumerate(program.recording.passes):
        if pass_.kind != "backward":
            continue
        for node in sums_of(program, pass_):
            if not any(program.is_number(one) for one in node.operands):
                continue
            for term, name, others in _numbers(expression(program.recording, node.place)):
                made = _made_before(program, node, name)
                if made is None or made.id in pass_.nodes or _are_tensors(program, others):
                    continue
                root = program.root_name(pass_)
                yield Finding(
                    "no gradient", "warning",
                    headline(f"A term of {root} is a number: {term} at {at(node.place)} changes no gradient",
                             f"A term of {root} is a bare number, which changes no gradient"),
                    (f"{name}, of {at(made.place)}, is on the tape; the term takes its bare value.",
                     f"So what {root} is computed from learns nothing from {name}."),
                    f"Add {name} itself; take the number only to print it.",
                    node.place, position, None, node.id, None, (("made", made.place),) if made.place else (),
                )  # fmt: skip
                return


def sums_of(program: Program, pass_: Pass) -> Iterator[NodeRecord]:
    """The sums that a pass begins with: its roots, and what these are sums of, or multiples by a constant."""
    waiting = [one.node for one in pass_.roots if one.node is not None]
    seen = set(waiting)
    for number in waiting:  # it grows on the way
        node = program.node(number)
        behind = [edge.node for edge in node.edges if edge.node is not None]
        if is_sum := program.does(node, *_SUMS):
            yield node
        if is_sum or (program.does(node, *_SCALES) and _is_multiple(program, node)):
            waiting += [one for one in dict.fromkeys(behind) if one not in seen]
            seen.update(behind)


def _is_multiple(program: Program, node: NodeRecord) -> bool:
    """Whether only one operand has a history, and is not what another is divided by."""
    has_history = [edge.node is not None for edge in node.edges]
    return sum(has_history) == 1 and (has_history[0] or not program.does(node, "div"))


def _made_before(program: Program, node: NodeRecord, name: str) -> NodeRecord | None:
    """The last operation before a node whose result has this name."""
    tensors = program.recording.tensors
    named = [i for i, names in enumerate(field(tensors, "names")) if name in names]
    results = [one for one in field(picked(tensors, named), "node") if one is not None and one < node.id]
    made = program.node(max(results)) if results else None
    return made if made is not None and made.variable is None else None


def _are_tensors(program: Program, names: set[str]) -> bool:
    """Whether one of these variables holds a tensor."""
    return any(not names.isdisjoint(one) for one in field(program.recording.tensors, "names"))


def _numbers(text: str) -> Iterator[tuple[str, str, set[str]]]:
    """The terms of a sum that `item()` or `float()` makes numbers: the text of each, what it takes, and its names."""
    tree = tree_of(text)
    match tree.body if tree is not None else []:
        case [ast.Expr(value)] | [ast.AugAssign(value=value)]:
            terms = [value]
        case _:
            return
    for term in terms:  # it grows on the way
        match term:
            case ast.BinOp(left, ast.Add() | ast.Sub(), right):
                terms += [left, right]
            case _ if (taken := _taken(term)) is not None and taken[0]:
                yield text_of(term), *taken


def _taken(term: ast.expr) -> tuple[str, set[str]] | None:
    """What a product of numbers takes the bare value of, and the names in it; None if it may be a tensor."""
    match term:
        case ast.Call(ast.Attribute(value, "item"), []) | ast.Call(ast.Name("float"), [value]):
            return text_of(value), set()
        case ast.Constant():
            return "", set()
        case ast.Name() | ast.Attribute():
            return "", {text_of(term)}
        case ast.UnaryOp(operand=operand):
            return _taken(operand)
        case ast.BinOp(left, ast.Mult() | ast.Div(), right):
            one, other = _taken(left), _taken(right)
            return (one[0] or other[0], one[1] | other[1]) if one is not None and other is not None else None
    return None
