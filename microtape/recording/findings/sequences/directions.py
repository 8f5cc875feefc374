"""normalize and cosine_similarity without a dim, of sequences of embeddings: they go along the positions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.histories import SAME_NUMBERS, history, input_at
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.formatting import format_shape
from microtape.recording.model.model import NodeRecord, Place
from microtape.recording.model.source import expression, is_installed, only_expression

_NORMS = ("norm", "linalg_vector_norm")
_TENSORS = {"normalize": 1, "cosine_similarity": 2}  # how many arguments stand before the others
_TRANSPOSING = ("transpose", "permute", "t", "movedim", "einsum", "matmul", "bmm")
_OF_EMBEDDINGS = ("embedding", "layer_norm", "native_layer_norm")
_LAYERS = ("linear", "addmm", "mm", *_OF_EMBEDDINGS)


def directions_of_positions(program: Program) -> Iterator[Finding]:
    """One finding for each call that takes dim=1, as nothing else is said, of (batch, positions, features).

    Only where the features come right out of a layer along the last dimension, of embeddings or of what layer_norm
    takes along it, and nothing has changed its place.
    """
    told = set[Place]()
    for node in program.doing(*_NORMS):
        if node.place is None or node.place in told or is_installed(node.place):
            continue
        told.add(node.place)
        before = input_at(program, node, 0)
        given = program.shape_of(before) if before is not None else None
        if before is None or given is None or len(given) != 3 or min(given[1:]) < 2:
            continue
        call = _call(expression(program.recording, node.place))
        if not call or program.shape_of(node) not in ((given[0], 1, given[2]), (given[0], given[2])):
            continue
        layer = _layer(program, before, given[2])
        if layer is not None:
            yield _finding(program, node, call, layer, given, program.name(before.id))


def _call(text: str) -> str:
    """`normalize` for `F.normalize(x)`; empty for another call, and for one that says its dim."""
    match only_expression(text):
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=args, keywords=keywords):
            is_said = any(one.arg in ("dim", None) for one in keywords)
            return name if len(args) == _TENSORS.get(name) and not is_said else ""
    return ""


def _layer(program: Program, node: NodeRecord, features: int) -> NodeRecord | None:
    """The layer that has made embeddings along the last dimension, which has stayed the last one ever since."""
    one: NodeRecord | None = node
    while one is not None and (program.shape_of(one) or ())[-1:] == (features,):
        if program.does(one, *_LAYERS):
            break
        one = input_at(program, one, 0) if program.does(one, *SAME_NUMBERS) else None
    if one is None or not program.does(one, *_LAYERS) or (program.shape_of(one) or ())[-1:] != (features,):
        return None
    data = [program.node(each) for each in history(program, node)]
    moved = [each for each in data if program.does(each, *_TRANSPOSING) and len(program.shape_of(each) or ()) > 2]
    is_sure = any(program.does(each, *_OF_EMBEDDINGS) for each in data)  # else the data may have been transposed before
    return one if is_sure and not moved else None


def _finding(
    program: Program, node: NodeRecord, call: str, layer: NodeRecord, shape: tuple[int, ...], name: str
) -> Finding:
    place, made = node.place, layer.place
    return Finding(
        "batch dimension", "warning",
        headline(f"{call} at {at(place)} goes along the {shape[1]} positions of {format_shape(shape)}",
                 f"{call} at {at(place)} goes along dimension 1, the positions"),
        (f"Without a dim, {call} takes dimension 1. The {shape[2]} features of {name} stand in the last one: they come "
         f"out of {'embedding' if program.does(layer, 'embedding') else 'a layer'} at {at(made)}.",
         f"So it compares each feature over all positions, and no vector of {shape[2]} features gets length 1."),
        f"Pass dim=-1 to {call}.",
        place, program.pass_after(node.id), None, node.id, program.tensor_of(node),
        (("made", made),) if made is not None and made != place else (),
    )  # fmt: skip
