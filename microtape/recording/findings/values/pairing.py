"""The mean of all log-probabilities is multiplied with the returns of the steps: no step is paired with its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.histories import inputs
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.model import NodeRecord, TensorRef

_LOGARITHMS = ("log", "log_softmax", "logsumexp", "nll_loss")
_FARTHEST = 6  # nodes between a logarithm and the mean
_MOST = 100  # nodes to look at on that way


def averaged_before_weighted(program: Program) -> Iterator[Finding]:
    """A notice for each product of the mean, or sum, of N log-probabilities with N constants that is summed up again.

    Where the constants are rewards, and not returns, the sum is an estimate too, if a rough one.
    """
    told = set()
    for reduced in program.doing("mean", "sum"):
        refs = operand_refs(reduced)
        shape = _shape(program, refs[0] if refs else None)
        if (
            shape is None
            or len(shape) != 1
            or shape[0] < 2
            or not reduced.outputs
            or _shape(program, reduced.outputs[0]) != ()
        ):
            continue
        for product in _products(program, reduced):
            weights = [one for one in operand_refs(product) if _shape(program, one) == shape]
            if len(weights) != 1 or weights[0] in program.producer or product.place in told:
                continue
            if _is_summed(program, product) and _is_of_logarithms(program, reduced):
                told.add(product.place)
                yield _finding(program, product, reduced, refs[0], weights[0])


def _shape(program: Program, ref: TensorRef | None) -> tuple[int, ...] | None:
    return program.recording.tensors[ref.tensor].shape if ref is not None else None


def _users(program: Program, node: NodeRecord) -> list[NodeRecord]:
    """The nodes that use a result, or minus the result."""
    users = [program.node(one) for one in program.users(node.id)]
    negative = [program.node(one) for user in users if program.does(user, "neg") for one in program.users(user.id)]
    return [*users, *negative]


def _products(program: Program, node: NodeRecord) -> list[NodeRecord]:
    return [one for one in _users(program, node) if program.does(one, "mul")]


def _is_summed(program: Program, product: NodeRecord) -> bool:
    """Whether nothing else than one number, a sum or a mean, is made of a product."""
    users = [one for one in _users(program, product) if not program.does(one, "neg")]
    return bool(users) and all(
        program.does(one, "sum", "mean") and one.outputs and _shape(program, one.outputs[0]) == () for one in users
    )


def _is_of_logarithms(program: Program, node: NodeRecord) -> bool:
    """Whether what a mean is of comes out of a logarithm, or is called a log-probability."""
    reached, seen = [node], {node.id}
    for _ in range(_FARTHEST):
        reached = [one for node in reached for one in inputs(program, node) if one.id not in seen][:_MOST]
        seen |= {one.id for one in reached}
        if any(program.does(one, *_LOGARITHMS) or _is_called_so(program, one) for one in reached):
            return True
    return False


def _is_called_so(program: Program, node: NodeRecord) -> bool:
    tensor = program.tensor_of(node)
    names = program.recording.tensors[tensor].names if tensor is not None else ()
    return any(re.search(r"log_?p", name) for name in names)


def _finding(
    program: Program, product: NodeRecord, reduced: NodeRecord, averaged: TensorRef, weights: TensorRef
) -> Finding:
    (size,) = program.recording.tensors[weights.tensor].shape
    what, name, weight = reduced.op, program.ref_name(averaged), program.ref_name(weights)
    text = headline(
        f"One {what} of {name} is multiplied with all {size} of {weight}: {at(product.place)}",
        f"One {what} is multiplied with all {size} of {weight}: {at(product.place)}",
        f"One {what} is multiplied with {size} weights: {at(product.place)}",
    )
    lines = (
        f"The {what} at {at(reduced.place)} is one number for all {size} of {name}, and each of the {size} numbers of "
        f"{weight} is multiplied with it.",
        f"So the result depends on their sum only: which of them belongs to which of {name} makes no difference.",
    )
    pair = f"{name} * {weight}" if name.isidentifier() and weight.isidentifier() else "log_probs * returns"
    remedy = f"If each step is to have its own weight, leave out that {what}: {pair}."
    others = (("made", reduced.place),) if reduced.place is not None and reduced.place != product.place else ()
    return Finding(
        "broadcast", "notice", text, lines, remedy, product.place, program.pass_after(product.id), None, product.id,
        program.tensor_of(product), others,
    )  # fmt: skip
