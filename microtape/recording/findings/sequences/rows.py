"""Which token each row of a result is computed from, where a model keeps the rows apart."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from microtape.recording.findings.histories import input_at, is_parameter
from microtape.recording.findings.program import Program, operand_refs, whole_numbers
from microtape.recording.model.model import NodeRecord

if TYPE_CHECKING:
    import numpy.typing as npt

    Positions = npt.NDArray[np.int32]  # for each element of a result, which token its row was computed from

_MOST_COPIED = 1 << 23  # elements of positions, where features of one row cannot share memory
_SAME_ORDER = (
    "view", "unsafe_view", "reshape", "reshape_alias", "squeeze", "unsqueeze", "unflatten", "contiguous", "clone",
    "to_copy", "expand", "alias",
)  # fmt: skip
_EACH_ELEMENT = (
    "relu", "gelu", "silu", "tanh", "sigmoid", "elu", "leaky_relu", "softplus", "dropout", "native_dropout",
    "layer_norm", "native_layer_norm", "rms_norm", "fused_rms_norm", "log_softmax",
)  # fmt: skip
_TRANSPOSING = ("transpose", "t", "permute")
_PARTS = ("split", "split_with_sizes", "chunk", "unbind")
_LAYERS = {"linear": 0, "addmm": 1, "mm": 0, "matmul": 0, "bmm": 0, "mkldnn_rnn_layer": 0}
"""What computes each row of its result from the row of an operand: by which edge that comes."""
FUSED = "scaled_dot_product_attention"
PRODUCTS = ("matmul", "bmm", "mm")


class Use(NamedTuple):
    """A node that uses a result whose rows are known, by which of its edges, and the positions of the result."""

    node: NodeRecord
    edge: int
    positions: Positions


def uses_of_rows(
    program: Program, node: NodeRecord, positions: Positions, *, through_attention: bool = False
) -> Iterator[Use]:
    """All that uses a result, or what is computed of it row by row.

    Args:
        program: the program.
        node: the node of the result.
        positions: of the result.
        through_attention: also what attention sums up, whose rows are those of its queries and values.
    """
    waiting, seen = [(node, positions)], {node.id}
    while waiting:
        node, positions = waiting.pop()
        has_parts = program.does(node, *_PARTS)
        for user in map(program.node, program.users(node.id)):
            for edge, one in enumerate(user.edges):
                if one.node != node.id or (one.input_nr and not has_parts):
                    continue
                yield Use(user, edge, positions)
                after = _after(program, user, edge, positions, through_attention) if user.id not in seen else None
                if after is not None and after.size:
                    seen.add(user.id)
                    waiting.append((user, after))


def is_same_along(positions: Positions, axis: int) -> bool:
    """Whether the positions are the same along an axis, as they are along features."""
    return not positions.strides[axis] or bool((positions == positions.take([0], axis)).all())


def _after(
    program: Program, node: NodeRecord, edge: int, positions: Positions, through_attention: bool
) -> Positions | None:
    """The tokens that the elements of a result come from, given those of an operand; None if they are mixed."""
    shape = program.shape_of(node) or ()
    if program.does(node, *_SAME_ORDER):
        return _reshaped(positions, shape)
    if program.does(node, *_TRANSPOSING):
        return _transposed(node, positions, shape)
    if program.does(node, "slice", "select"):
        part = _indexed(node, positions)
        return part if part is not None and part.shape == shape else _other_features(positions, shape)
    if program.does(node, *_PARTS, "cat"):
        return _other_features(positions, shape)
    if through_attention and positions.shape == shape and is_of_values(program, node, edge):
        return positions
    for op, operand in _LAYERS.items():
        if program.does(node, op):
            weight = input_at(program, node, operand + 1)
            if edge != operand or weight is None or not is_parameter(program, weight):
                return None
            is_by_row = shape[:-1] == positions.shape[:-1] and is_same_along(positions, -1)
            return np.broadcast_to(positions[..., :1], shape) if is_by_row else None
    if positions.shape != shape:
        return None
    if program.does(node, *_EACH_ELEMENT):
        return positions
    return positions if program.does(node, "add", "sub", "mul", "div") and _is_plain(program, node, edge) else None


def is_of_values(program: Program, node: NodeRecord, edge: int) -> bool:
    """Whether a node adds up what comes by an edge with weights of attention, a row of them for each position."""
    if program.does(node, FUSED):
        return edge == 2
    if edge != 1 or not program.does(node, *PRODUCTS):
        return False
    weights = input_at(program, node, 0)
    rows, columns = ((program.shape_of(weights) if weights is not None else None) or (0, 1))[-2:]
    return rows == columns


def _reshaped(positions: Positions, shape: tuple[int, ...]) -> Positions | None:
    if positions.size != math.prod(shape):
        return None
    try:
        return positions.reshape(shape, copy=False)
    except ValueError:  # a copy is needed
        return positions.reshape(shape) if positions.size <= _MOST_COPIED else None


def _indexed(node: NodeRecord, positions: Positions) -> Positions | None:
    """The positions at an index of whole numbers and slices, if the call says one: `(:, :-1)`, or `dim=1, part=0:4`."""
    texts = [one.text for one in node.operands if one.ref is None]
    said = dict(text.split("=", 1) for text in texts if "=" in text)
    try:
        if "part" in said and "dim" in said:
            texts = [", ".join([":"] * int(said["dim"]) + [said["part"]])]
        (text,) = texts
        match ast.parse(f"x[{text.removeprefix('(').removesuffix(')')}]", mode="eval").body:
            case ast.Subscript(slice=ast.Tuple(elts=parts)):
                index = tuple(map(_part, parts))
            case ast.Subscript(slice=part):
                index = (_part(part),)
            case _:
                return None
        found: Positions = positions[index]
    except (IndexError, SyntaxError, TypeError, ValueError):
        return None
    return found


def _part(one: ast.expr) -> Any:
    """A whole number, a slice or an Ellipsis of an index. Raises ValueError for anything else."""
    if isinstance(one, ast.Slice):
        return slice(*[None if each is None else ast.literal_eval(each) for each in (one.lower, one.upper, one.step)])
    value = Ellipsis if isinstance(one, ast.Name) and one.id == "Ellipsis" else ast.literal_eval(one)
    if type(value) is not int and value is not Ellipsis:
        raise ValueError(value)
    return value


def _other_features(positions: Positions, shape: tuple[int, ...]) -> Positions | None:
    """The positions where only features are taken or added, or one of several alike is taken."""
    if len(shape) == positions.ndim:
        is_by_row = shape[:-1] == positions.shape[:-1] and is_same_along(positions, -1)
        return np.broadcast_to(positions[..., :1], shape) if is_by_row else None
    for axis in range(positions.ndim):
        if positions.shape[:axis] + positions.shape[axis + 1 :] == shape and is_same_along(positions, axis):
            return positions[(slice(None),) * axis + (0,)]
    return None


def _is_plain(program: Program, node: NodeRecord, edge: int) -> bool:
    """Whether the other operand is learnt, a number or repeated: a mask or noise may hide what is to be predicted."""
    others = [one for i, one in enumerate(operand_refs(node)) if i != edge]
    other = input_at(program, node, 1 - edge) if edge < 2 else None
    if other is not None:
        return program.does(node, "add", "sub") or is_parameter(program, other)
    shapes = [program.recording.tensors[one.tensor].shape for one in others]
    return all(len(shape) < len(program.shape_of(node) or ()) or shape[:1] == (1,) for shape in shapes)


def _transposed(node: NodeRecord, positions: Positions, shape: tuple[int, ...]) -> Positions | None:
    """The positions in another order of dimensions: as the call says it, else as the shapes do, if that is clear.

    At the end of another call, such as `lstm`, the numbers are arguments of that.
    """
    count, sizes = positions.ndim, positions.shape
    said = [one % count for one in whole_numbers(node)] if node.op in _TRANSPOSING else []
    order = said
    if len(set(said)) == 2 < count or len(said) == 2:
        order = list(range(count))
        order[said[0]], order[said[-1]] = said[-1], said[0]
    elif sorted(said) != list(range(count)):
        order = [sizes.index(size) for size in shape] if len(set(sizes)) == count and set(shape) == set(sizes) else []
    return positions.transpose(order) if len(order) == count and shape == tuple(sizes[i] for i in order) else None
