"""A module that runs along one dimension, and a program that takes another one for the batch: `batch_first`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.model import NodeRecord, Place, Recording
from microtape.recording.model.source import (
    expression,
    is_installed,
    only_assignment,
    only_expression,
    tree_of,
    whole_lines,
)
from microtape.recording.tables.fields import are, picked

_TAKING = ("select", "slice", "index", "mean", "sum", "amax", "amin", "max", "min", "median", "logsumexp")
_RECURRENT = {"LSTM": 4, "GRU": 4, "RNN": 5}  # the position of batch_first among their arguments
_ATTENDING = ("MultiheadAttention", "TransformerEncoderLayer")


class _Taking(NamedTuple):
    """What an expression does with a dimension of `of`: takes one number along it, or puts all of them together."""

    of: ast.expr
    dimension: int
    is_one: bool


class _Module(NamedTuple):
    """A module, as the program makes it."""

    name: str  # self.rnn
    place: Place
    batch_first: bool
    gives_several: bool  # its output is the first of them, and the batch of the others is elsewhere


def batch_for_time(program: Program) -> Iterator[Finding]:
    """A finding for each line that takes one example, or the mean over examples, of what such a module gave.

    A batch of one tells nothing.
    """
    nodes, tensors = program.recording.nodes, program.recording.tensors
    tried: set[Place] = set()
    for node in picked(nodes, np.flatnonzero(are(nodes, "op", *_TAKING))):
        given = node.operands[0].ref if node.operands else None
        if given is None or node.place is None or node.place in tried or is_installed(node.place):
            continue
        shape, maker = tensors[given.tensor].shape, tensors[given.tensor].node
        if len(shape) != 3 or maker is None:
            continue
        tried.add(node.place)
        taking = _taken(expression(program.recording, node.place))
        module = _module(program, maker, node) if taking is not None else None
        if taking is None or module is None:
            continue
        batch = 0 if module.batch_first else 1
        is_output = _is_output(program.recording, node.place.file, taking.of, module)
        if is_output and taking.dimension % 3 == batch and shape[batch] > 1:
            yield _finding(program, node, node.place, taking, module, shape)


def _taken(text: str) -> _Taking | None:
    """What `h[:, -1]` or `h.mean(dim=1)` does."""
    match only_expression(text):
        case ast.Subscript(value=of, slice=ast.Tuple(elts=indices)):
            pass
        case ast.Subscript(value=of, slice=index):
            indices = [index]
        case (
            ast.Call(func=ast.Attribute(value=of), args=[], keywords=[ast.keyword("dim", number)])
            | ast.Call(func=ast.Attribute(value=of), args=[number], keywords=[])
            | ast.Call(args=[of, number], keywords=[])
        ):
            dimension = _number(number)
            return _Taking(of, dimension, is_one=False) if dimension is not None else None
        case _:
            return None
    for dimension, index in enumerate(indices):
        if _number(index) is not None:
            return _Taking(of, dimension, is_one=True)
        if not isinstance(index, ast.Slice) or index.lower or index.upper or index.step:
            return None
    return None


def _number(node: ast.expr) -> int | None:
    try:
        found = ast.literal_eval(node)
    except ValueError:
        return None
    return found if type(found) is int else None


def _module(program: Program, maker: int, user: NodeRecord) -> _Module | None:
    """The module whose result a node uses; None if it is none of these, or it is not known how it is made."""
    recording = program.recording
    around, scope, outermost = set(_scopes(recording, user.scope)), program.node(maker).scope, None
    for one in _scopes(recording, scope):
        if one in around:
            break
        outermost = one
    if outermost is None:
        return None
    name = recording.scopes[outermost].name.rpartition(".")[2]
    place = only_assignment(recording, f"self.{name}") or only_assignment(recording, name)
    text = whole_lines(recording, place) if place is not None else ""
    call = _call(text)
    batch_first = _batch_first(recording, call) if call is not None else None
    if place is None or call is None or batch_first is None:
        return None
    gives_several = _kind(recording, call) in (*_RECURRENT, "MultiheadAttention")
    return _Module(text.partition(" = ")[0], place, batch_first, gives_several)


def _is_output(recording: Recording, file: str, of: ast.expr, module: _Module) -> bool:
    """Whether an expression is the output of the module, and not its last state or its weights of attention."""
    if module.gives_several:
        match of:
            case ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=0)):
                return ast.unparse(call.func) == module.name
    elif isinstance(of, ast.Call):
        return ast.unparse(of.func) == module.name
    tree = tree_of(recording.sources.get(file, ""))
    found = (_outputs(one, module) for one in ast.walk(tree) if isinstance(one, ast.Assign)) if tree is not None else ()
    return ast.unparse(of) in {ast.unparse(one) for some in found for one in some}


def _outputs(statement: ast.Assign, module: _Module) -> Iterator[ast.expr]:
    """What an assignment calls the output of a module."""
    target, value = statement.targets[0], statement.value
    is_first = isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant) and value.slice.value == 0
    call = value.value if isinstance(value, ast.Subscript) else value
    if not isinstance(call, ast.Call) or ast.unparse(call.func) != module.name:
        return
    if isinstance(target, ast.Tuple | ast.List):
        if module.gives_several and call is value:
            yield target.elts[0]
    elif is_first == module.gives_several and (is_first or call is value):
        yield target


def _scopes(recording: Recording, scope: int | None) -> Iterator[int]:
    """A scope and those around it."""
    while scope is not None:
        yield scope
        scope = recording.scopes[scope].outer


def _call(text: str) -> ast.Call | None:
    """The call whose result is assigned."""
    tree = tree_of(text)
    match tree.body if tree is not None else ():
        case [ast.Assign(value=ast.Call() as call)]:
            return call
    return None


def _batch_first(recording: Recording, call: ast.Call) -> bool | None:
    """Whether a module is made with batch_first; None if it is another one, or this cannot be told."""
    kind = _kind(recording, call)
    if kind == "TransformerEncoder" and call.args:
        layer: ast.expr | None = call.args[0]
        if isinstance(layer, ast.Name | ast.Attribute):
            made = only_assignment(recording, ast.unparse(layer))
            layer = _call(whole_lines(recording, made)) if made is not None else None
        return _batch_first(recording, layer) if isinstance(layer, ast.Call) else None
    if kind not in (*_RECURRENT, *_ATTENDING) or any(one.arg is None for one in call.keywords):
        return None
    given = [one.value for one in call.keywords if one.arg == "batch_first"]
    if kind in _RECURRENT:
        given += call.args[_RECURRENT[kind] :][:1]
    if any(isinstance(one, ast.Starred) for one in call.args):
        return None
    match given:
        case []:
            return False
        case [ast.Constant(value=bool() as found)]:
            return found
    return None


def _kind(recording: Recording, call: ast.Call) -> str:
    """The class of `nn` that is called: `LSTM`; empty for another one, such as one of the program's own."""
    match call.func:
        case ast.Attribute(value=ast.Name(id="nn") | ast.Attribute(attr="nn"), attr=kind):
            return kind
        case ast.Name(id=kind):
            imported = re.compile(rf"^from \w+\.nn import .*\b{kind}\b", re.MULTILINE)
            return kind if any(imported.search(text) for text in recording.sources.values()) else ""
    return ""


def _finding(
    program: Program, node: NodeRecord, place: Place, taking: _Taking, module: _Module, shape: Sequence[int]
) -> Finding:
    used = expression(program.recording, place)
    batch, time = (0, 1) if module.batch_first else (1, 0)
    what = "takes one example" if taking.is_one else "puts the examples together"
    has = "has batch_first" if module.batch_first else "has no batch_first"
    name = module.name
    text = headline(
        f"{used} at {at(place)} {what}: {name} {has}",
        f"{at(place)} {what}: {name} {has}",
        f"{at(place)} {what} of a batch",
    )
    lines = (
        f"{name} at {at(module.place)} {has}: it runs along dimension {time}, and dimension {batch} is the batch.",
        f"{used} takes {'one' if taking.is_one else 'all'} of the {shape[batch]} along dimension {batch}, and keeps "
        f"the {shape[time]} along dimension {time}.",
    )
    other = "batch_first=False" if module.batch_first else "batch_first=True"
    remedy = f"If dimension {time} of its input is the batch, make it with {other}; else use dimension {time} here."
    return Finding(
        "batch dimension", "warning", text, lines, remedy, place, program.pass_after(node.id), None, node.id,
        program.tensor_of(node), (("made", module.place),),
    )  # fmt: skip
