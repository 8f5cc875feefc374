"""A gradient penalty with one norm for the whole batch, where each example's gradient was to have its own."""

from __future__ import annotations

import math
from collections.abc import Iterator

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.histories import input_at
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.formatting import format_number, format_shape
from microtape.recording.model.model import NodeRecord, Pass, TensorRef

_NORMS = ("norm", "linalg_vector_norm", "linalg_norm", "linalg_matrix_norm", "vector_norm", "frobenius_norm")
_SAME_NUMBERS = ("view", "reshape", "unsafe_view", "reshape_alias", "flatten", "clone", "contiguous", "squeeze")
_BENT = ("pow", "square", "mul", "relu", "clamp", "abs")


def one_norm_for_all(program: Program) -> Iterator[Finding]:
    """One finding for each line that holds the norm of all examples' gradients together to a number, as in WGAN-GP."""
    if not any(one.kind == "grad" and one.create_graph for one in program.recording.passes):
        return
    told = set()
    for node in program.doing(*_NORMS):
        if node.place is None or node.place in told or program.shape_of(node) != ():
            continue
        target, gradient = _target(program, node), _gradient(program, node)
        if target is None or gradient is None:
            continue
        told.add(node.place)
        yield _finding(program, node, gradient, target)


def _target(program: Program, node: NodeRecord) -> float | None:
    """The number above 0 that is subtracted from a norm, if the difference is squared or the like."""
    for user in map(program.node, program.users(node.id)):
        if not program.does(user, "sub") or len(user.operands) < 2 or user.operands[0].ref not in node.outputs:
            continue
        number = program.number(user.operands[1])
        if number is not None and number > 0:
            bent = (program.does(program.node(one), *_BENT) for one in program.users(user.id))
            return number if any(bent) else None
    return None


def _gradient(program: Program, node: NodeRecord) -> TensorRef | None:
    """The gradient that a norm is of, if it has a row for each example of a batch, and `grad` gave it."""
    used, before = node, input_at(program, node, 0)
    while before is not None and before.pass_ is None and program.does(before, *_SAME_NUMBERS):
        used, before = before, input_at(program, before, 0)
    if before is None or before.pass_ is None:
        return None
    position, refs = program.positions.get(before.pass_), operand_refs(used)
    pass_ = program.recording.passes[position] if position is not None else None
    if pass_ is None or pass_.kind != "grad" or not refs:
        return None
    shape = program.recording.tensors[refs[0].tensor].shape
    return refs[0] if len(shape) > 1 and shape[0] > 1 and _is_of_examples(program, pass_, shape) else None


def _is_of_examples(program: Program, pass_: Pass, shape: tuple[int, ...]) -> bool:
    """Whether a pass gave a gradient of this shape to what nothing updates, from a result for each of its rows.

    Of a sum, the rows may be parts of one example, such as the atoms of a molecule.
    """
    tensors = program.recording.tensors
    if not any(tensors[one.tensor].shape == shape and one.tensor not in program.updated for one in pass_.captures):
        return False
    roots = [tensors[one.tensor].shape for one in pass_.root_tensors if one is not None]
    return len(pass_.roots) == 1 and roots in ([shape[:1]], [(shape[0], 1)])


def _finding(program: Program, node: NodeRecord, gradient: TensorRef, target: float) -> Finding:
    shape, name = program.recording.tensors[gradient.tensor].shape, program.ref_name(gradient)
    name = name if name.isidentifier() else "gradients"
    text = headline(
        f"{program.expression(node.place) or 'norm'} at {at(node.place)} is one norm for all {shape[0]} examples",
        f"norm at {at(node.place)} is one norm for all {shape[0]} examples",
        "One norm of a gradient for all examples",
    )
    each = format_number(target / math.sqrt(shape[0]))
    lines = (
        f"{name} is {format_shape(shape)}, a row for each example: a penalty holds the norm of each row to "
        f"{format_number(target)}.",
        f"Here it holds the norm of all rows together to {format_number(target)}: each is pushed to about {each}, and "
        "that changes with the size of the batch.",
    )
    remedy = f"Write {name}.flatten(1).norm(2, dim=1), which has a norm for each example."
    return Finding(
        "batch dimension", "warning", text, lines, remedy, node.place, program.pass_after(node.id), None, node.id,
        program.tensor_of(node),
    )  # fmt: skip
