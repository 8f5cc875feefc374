"""Language models whose targets are the tokens that they read at the same positions: they learn to copy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.histories import input_at, is_parameter
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.model import NodeRecord, Place

if TYPE_CHECKING:
    import numpy.typing as npt

_FEWEST = 8  # positions from which on equal tokens are no chance
_FEWEST_TOKENS = 3  # different ones
_MOST_TRIES = 4  # of one line in a loop
_SAME_ORDER = (
    "view", "unsafe_view", "reshape", "reshape_alias", "squeeze", "unsqueeze", "contiguous", "clone", "to_copy",
)  # fmt: skip
_EACH_ELEMENT = (
    "relu", "gelu", "silu", "tanh", "sigmoid", "elu", "leaky_relu", "softplus", "dropout", "native_dropout",
    "layer_norm", "native_layer_norm", "rms_norm", "fused_rms_norm", "log_softmax",
)  # fmt: skip
_LAYERS = {"linear": 0, "addmm": 1, "mm": 0, "matmul": 0, "bmm": 0, "mkldnn_rnn_layer": 0}
"""What computes each row of its result from the row of an operand: by which edge that comes."""


def own_tokens(program: Program) -> Iterator[Finding]:
    """One finding for each cross entropy whose targets are, position by position, the tokens that were embedded.

    Only where a row of scores is computed from the embedding of its own token: past a bottleneck, copying is the task.
    """
    tries = dict[Place | None, int]()
    for node in program.doing("embedding"):
        tokens = _array(program, node, ("indices", "index"))
        if tokens is None or tokens.size < _FEWEST or tries.get(node.place, 0) >= _MOST_TRIES:
            continue
        tries[node.place] = tries.get(node.place, 0) + 1
        for loss, positions in _losses(program, node, tokens):
            targets = _array(program, loss, ("target",))
            if targets is None or targets.size != positions.size:
                continue
            counted = targets.reshape(-1) >= 0  # -100 leaves a position out
            read, wanted = tokens.reshape(-1)[positions][counted], targets.reshape(-1)[counted]
            is_copy = len(read) >= _FEWEST and bool((read == wanted).all())
            if is_copy and len(np.unique(read)) >= _FEWEST_TOKENS:
                tries[node.place] = _MOST_TRIES
                yield _finding(program, node, loss, len(read))
                break


def _array(program: Program, node: NodeRecord, names: tuple[str, ...]) -> npt.NDArray[Any] | None:
    """The whole numbers that a node has saved by one of these names, if they are known."""
    for one in node.saved:
        value = program.recording.value(one.ref) if one.name in names else None
        if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
            return value
    return None


def _losses(
    program: Program, embedding: NodeRecord, tokens: npt.NDArray[Any]
) -> Iterator[tuple[NodeRecord, npt.NDArray[np.int64]]]:
    """The cross entropies of scores that come from an embedding, with the token that each row of scores comes from."""
    shape = program.shape_of(embedding) or ()
    if shape[:-1] != tokens.shape:
        return
    first = np.broadcast_to(np.arange(tokens.size).reshape((*tokens.shape, 1)), shape)
    waiting, seen = [(embedding, first)], {embedding.id}
    while waiting:
        node, positions = waiting.pop()
        for user in map(program.node, program.users(node.id)):
            edge = next((i for i, one in enumerate(user.edges) if one.node == node.id and one.input_nr == 0), None)
            if edge is None or user.id in seen:
                continue
            if program.does(user, "nll_loss", "nll_loss2d"):
                if edge == 0 and positions.ndim > 1 and (positions == positions[:, :1]).all():
                    yield user, positions[:, 0].reshape(-1)
            elif (after := _after(program, user, edge, positions)) is not None:
                seen.add(user.id)
                waiting.append((user, after))


def _after(
    program: Program, node: NodeRecord, edge: int, positions: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64] | None:
    """The tokens that the elements of a result come from, given those of an operand; None if they are mixed."""
    shape = program.shape_of(node) or ()
    if program.does(node, *_SAME_ORDER):
        return positions.reshape(shape) if positions.size == np.prod(shape) else None
    if program.does(node, "transpose", "t", "permute"):
        return _transposed(node, positions, shape)
    for op, operand in _LAYERS.items():
        if program.does(node, op):
            weight = input_at(program, node, operand + 1)
            by_parameter = weight is not None and is_parameter(program, weight)
            rows = positions[..., :1]
            if edge != operand or not by_parameter or shape[:-1] != positions.shape[:-1] or (positions != rows).any():
                return None
            return np.broadcast_to(rows, shape)
    if positions.shape != shape:
        return None
    if program.does(node, *_EACH_ELEMENT):
        return positions
    return positions if program.does(node, "add", "sub", "mul", "div") and _is_plain(program, node, edge) else None


def _is_plain(program: Program, node: NodeRecord, edge: int) -> bool:
    """Whether the other operand is learnt, a number or repeated: a mask or noise may hide what is to be predicted."""
    others = [one for i, one in enumerate(operand_refs(node)) if i != edge]
    other = input_at(program, node, 1 - edge) if edge < 2 else None
    if other is not None:
        return program.does(node, "add", "sub") or is_parameter(program, other)
    shapes = [program.recording.tensors[one.tensor].shape for one in others]
    return all(len(shape) < len(program.shape_of(node) or ()) or shape[:1] == (1,) for shape in shapes)


def _transposed(
    node: NodeRecord, positions: npt.NDArray[np.int64], shape: tuple[int, ...]
) -> npt.NDArray[np.int64] | None:
    """The positions in another order of dimensions: as the call says it, else as the shapes do, if that is clear."""
    count, sizes = positions.ndim, positions.shape
    said = [int(text) % count for one in node.operands if one.ref is None for text in re.findall(r"-?\d+", one.text)]
    order = said
    if len(set(said)) == 2 < count or len(said) == 2:
        order = list(range(count))
        order[said[0]], order[said[-1]] = said[-1], said[0]
    elif sorted(said) != list(range(count)):
        order = [sizes.index(size) for size in shape] if len(set(sizes)) == count and set(shape) == set(sizes) else []
    return positions.transpose(order) if len(order) == count and shape == tuple(sizes[i] for i in order) else None


def _finding(program: Program, embedding: NodeRecord, loss: NodeRecord, count: int) -> Finding:
    refs = operand_refs(embedding)
    name = program.ref_name(refs[1]) if len(refs) > 1 else "%"
    read, rows = name if name.isidentifier() else "tokens", ":, " * (len(program.shape_of(embedding) or ()) - 2)
    others = (("read", embedding.place),) if embedding.place is not None and embedding.place != loss.place else ()
    return Finding(
        "target", "warning",
        headline(f"cross_entropy at {at(loss.place)} asks for the tokens that the model reads",
                 f"{at(loss.place)} asks for the tokens that the model reads"),
        (f"Each of the {count:,} targets is the token that is read at its own position, at {at(embedding.place)}.",
         "The model can copy it: the loss falls towards 0, and nothing is learnt of what comes next."),
        f"Let each position predict the next token: read {read}[{rows}:-1], with the targets {read}[{rows}1:].",
        loss.place, program.pass_after(loss.id), None, loss.id, program.tensor_of(loss), others,
    )  # fmt: skip
