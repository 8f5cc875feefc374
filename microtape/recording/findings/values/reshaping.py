"""A reshape where a transpose was meant: sizes change places, and the numbers stay in their order."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.sequences.heads import RESHAPING, heads_without_transpose, splits
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.formatting import format_shape
from microtape.recording.model.formula import index_text
from microtape.recording.model.model import NodeRecord, Place
from microtape.recording.model.source import expression, is_installed, only_expression
from microtape.recording.tables.fields import are, picked


def reshaped_for_transposed(program: Program) -> Iterator[Finding]:
    """A notice for each line that gives a tensor its own sizes in another order, and names each of them by itself.

    Sizes such as `B * H` regroup numbers, and may be the same ones by chance. Of heads, it is a warning.
    """
    nodes, tensors = program.recording.nodes, program.recording.tensors
    tried: set[Place] = set()
    for node in picked(nodes, np.flatnonzero(are(nodes, "op", *RESHAPING))):
        given = node.operands[0].ref if node.operands else None
        made = node.outputs[0] if node.outputs else None
        if given is None or made is None or node.place is None or node.place in tried:
            continue
        before, after = tensors[given.tensor].shape, tensors[made.tensor].shape
        change_places = _change_places(before, after)
        if not (change_places or splits(before, after) or splits(after, before)):
            continue
        tried.add(node.place)
        sizes = _sizes(expression(program.recording, node.place)) if not is_installed(node.place) else ()
        found = heads_without_transpose(program, node, before, after, sizes) if sizes else None
        if found is not None:
            yield found
        elif sizes and change_places and not any(isinstance(one, ast.BinOp | ast.Starred) for one in sizes):
            yield _finding(program, node, node.place, before, after)


def _change_places(before: Sequence[int], after: Sequence[int]) -> bool:
    """Whether two shapes have the same sizes in another order, apart from ones."""
    wide, others = ([shape[i] for i in _wide(shape)] for shape in (before, after))
    return len(before) == len(after) and wide != others and sorted(before) == sorted(after) and 0 not in before


def _wide(shape: Sequence[int]) -> list[int]:
    return [i for i, size in enumerate(shape) if size != 1]


def _sizes(text: str) -> Sequence[ast.expr]:
    """The sizes in a call of `view` or `reshape`, if there is one for each dimension."""
    match only_expression(text):
        case ast.Call(func=ast.Attribute(attr="view" | "reshape"), args=sizes):
            pass
        case _:
            return ()
    if sizes and isinstance(sizes[-1], ast.Tuple | ast.List):
        sizes = sizes[-1].elts
    return sizes if len(sizes) > 1 else ()


def _finding(
    program: Program, node: NodeRecord, place: Place, before: tuple[int, ...], after: tuple[int, ...]
) -> Finding:
    old, new = format_shape(before), format_shape(after)
    text = headline(
        f"{node.op} at {at(place)} makes {new} of {old}, and moves no number: no transpose",
        f"{node.op} at {at(place)} swaps sizes, and moves no number: no transpose",
        f"{node.op} swaps sizes, and moves no number: no transpose",
    )
    swapped = [i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
    moved = next(j for i, j in zip(_wide(before), _wide(after), strict=True) if before[i] != after[j])
    second = tuple(int(i == moved) for i in range(len(after)))
    flat = int(np.ravel_multi_index(second, after))
    source = tuple(map(int, np.unravel_index(flat, before)))
    lines = (
        "The sizes change places, as in a transpose, but the numbers stay in their order in memory.",
        f"{index_text(second)} of the result is {index_text(source)} of what came in: rows are mixed.",
    )
    instead = f"transpose({swapped[0]}, {swapped[1]})" if len(swapped) == 2 else "permute(...)"
    remedy = f"If dimensions are to change places, use {instead}; if numbers are to be regrouped, this is right."
    return Finding("reshape", "notice", text, lines, remedy, place, None, None, node.id, program.tensor_of(node))
