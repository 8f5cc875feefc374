"""Networks that are to follow others, and load their own weights: `target = policy`, and then `load_state_dict`."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from microtape.recording.findings.finding import Finding, Severity
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.source import place_in, text_of, tree_of

_FOLLOWER = re.compile(r"(^|[._])(teacher|target|ema|old|momentum)([._]|\d*$)")
_SAME = ("to", "cuda", "cpu", "float", "double", "half", "train", "eval", "requires_grad_")
"""Methods that return their module."""


class _Loaded(NamedTuple):
    """A call of `load_state_dict` with the weights that are there already."""

    call: ast.Call
    follower: str
    leader: str  # the other name of the module; without one, what the follower loads elsewhere in the file
    made: ast.Assign | None  # what gives the follower that module


def loads_itself(program: Program) -> Iterator[Finding]:
    """A finding for each `target.load_state_dict(policy.state_dict())` if both names are of one module."""
    for file in program.files_with_passes:
        for one in _loaded(program.recording.sources[file]):
            place, text = place_in(program.recording, file, one.call), text_of(one.call)
            if one.made is None:
                severity: Severity = "warning" if _FOLLOWER.search(one.follower) else "notice"
                wanted = f", such as {one.follower}.load_state_dict({one.leader}.state_dict())" if one.leader else ""
                yield Finding(
                    "no effect", severity,
                    headline(f"{text} at {at(place)} changes nothing: it loads itself",
                             f"{one.follower} loads its own weights at {at(place)}: nothing changes",
                             f"A module loads its own weights at {at(place)}: nothing changes"),
                    (f"Both sides are {one.follower}, so that its weights are copied onto themselves.",),
                    f"Load those of the network that it is to follow{wanted}.", place,
                )  # fmt: skip
                continue
            made = place_in(program.recording, file, one.made)
            module = text_of(_module(one.made.value))
            if _is_shallow(one.made.value):
                texts = (
                    f"{one.follower} has the parameters of {one.leader} itself: {at(made)} copies the module alone",
                    f"{one.follower} shares its parameters with {one.leader}: {at(made)}",
                )
                why = f"copy.copy makes another module that has the same parameters as {module}"
            else:
                texts = (
                    f"{one.follower} is {one.leader} itself: {at(made)} makes no copy",
                    f"{one.follower} is no copy, but the same module: {at(made)}",
                )
                why = f"{text_of(one.made)} gives the module a second name"
            yield Finding(
                "no effect", "error", headline(*texts),
                (f"{why}: each update of one is an update of both.",
                 f"So {text} at {at(place)} copies the weights onto themselves."),
                f"Make a copy: {one.follower} = copy.deepcopy({module}).", made,
                others=(("used", place),),
            )  # fmt: skip


@functools.lru_cache(maxsize=64)
def _loaded(source: str) -> Sequence[_Loaded]:
    """The calls in a source text that load what is there already."""
    if "load_state_dict" not in source:
        return ()
    tree, found = tree_of(source) or ast.Module([], []), []
    elsewhere: dict[str, str] = {}
    classes = [one for one in ast.walk(tree) if isinstance(one, ast.ClassDef)]
    for call in ast.walk(tree):
        match call:
            case ast.Call(
                ast.Attribute(follower, "load_state_dict"),
                [ast.Call(ast.Attribute(leader, "state_dict"), [], []), *_],
            ) if isinstance(follower, ast.Name | ast.Attribute):
                one, other = text_of(follower), text_of(leader)
                around = next((each for each in classes if _holds(each, call)), tree)
                if one != other:
                    elsewhere[one] = other
                if one == other:
                    found.append(_Loaded(call, one, "", None))
                elif _FOLLOWER.search(one) and (made := _second_name(around, one, other)) is not None:
                    found.append(_Loaded(call, one, other, made))
    return [one._replace(leader=one.leader or elsewhere.get(one.follower, "")) for one in found]


def _second_name(around: ast.AST, follower: str, leader: str) -> ast.Assign | None:
    """The assignment that makes both variables names of one module; None if either may be given another one."""
    ours, theirs = _assigned(around, follower), _assigned(around, leader)
    if len(ours) != 1 or len(theirs) != 1:
        return None
    made, value = ours[0], text_of(_module(ours[0].value))
    if value == leader:
        return made if theirs[0].lineno < made.lineno else None
    is_name = isinstance(_module(made.value), ast.Name | ast.Attribute)
    block = next((one for one in _blocks(around) if made in one and theirs[0] in one), None)
    if not is_name or block is None or text_of(_module(theirs[0].value)) != value:
        return None
    first, last = sorted((block.index(made), block.index(theirs[0])))
    between = (one for statement in block[first : last + 1] for one in ast.walk(statement))
    return None if any(_stores(one, value) for one in between) else made


def _module(value: ast.expr) -> ast.expr:
    """`model` of `model.to(device).eval()`, and of `copy.copy(model)`, whose parameters are the same ones."""
    match value:
        case ast.Call(ast.Attribute(ast.Name("copy"), "copy"), [inner]):
            return _module(inner)
        case ast.Call(ast.Attribute(inner, name)) if name in _SAME:
            return _module(inner)
    return value


def _is_shallow(value: ast.expr) -> bool:
    return any(isinstance(one, ast.Attribute) and text_of(one) == "copy.copy" for one in ast.walk(value))


def _assigned(around: ast.AST, variable: str) -> list[ast.Assign]:
    """The statements that give a variable a value; two of one if it is given in any other way."""
    stores = [one for one in ast.walk(around) if _stores(one, variable)]
    found = []
    for one in ast.walk(around):
        match one:
            case ast.Assign(targets) if any(text_of(target) == variable for target in targets):
                found.append(one)
    return found if len(stores) == len(found) else [*found, *found]


def _stores(node: ast.AST, variable: str) -> bool:
    is_written = isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store)
    return is_written and text_of(node) == variable


def _blocks(around: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(around):
        for _, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                yield value


def _holds(around: ast.AST, node: ast.AST) -> bool:
    return any(one is node for one in ast.walk(around))
