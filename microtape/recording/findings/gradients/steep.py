"""A finite gradient that a single operation makes enormous, where its slope has next to no bound."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.histories import maker_at
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, count, headline, indexed
from microtape.recording.model.formatting import format_number
from microtape.recording.model.formula import element, index_of_largest, index_text
from microtape.recording.model.model import BackwardStep, NodeRecord, Operand, Pass, Value

STEEP = 1e5  # the factor by which one operation enlarges a gradient
NEAR = 1e-2  # a divisor, or the input of a logarithm, that is this close to 0
ENORMOUS = 1e6  # by how much more than its own size a loss would change, if a leaf changed by its own
_WITH_EPS = ("normalize", "cosine_similarity")
_DIVISIONS = ("div", "true_divide", *_WITH_EPS)
_LOGARITHMS = ("log", "log2", "log10", "log1p", "logit", "xlogy")
_AT_ZERO = ("reciprocal", "rsqrt", "sqrt", "pow")
_AT_ONE = ("acos", "asin", "atanh", "acosh", "erfinv")


def steep_slopes(program: Program) -> Iterator[Finding]:
    """At most one finding: the first pass in which a slope that has no bound makes the gradient of a leaf enormous.

    What is enormous is told by the product of a leaf and its gradient beside the loss: units do not matter.
    """
    for position, pass_ in enumerate(program.recording.passes):
        if not pass_.is_complete or not (ends := _enormous(program, pass_)):
            continue
        for step in pass_.steps:
            if _is_steep(program, step) and (end := _reached(program, position, step, ends)) is not None:
                yield _finding(program, position, step, end, ends[end])
                return


def _enormous(program: Program, pass_: Pass) -> Mapping[int, float]:
    """How large the gradients are that are enormous, by the node of what they are of; none, if one is not finite."""
    largest, recording = program.sizes.largest, program.recording
    seed = max(map(largest, pass_.seeds), default=0.0)
    ends = [(recording.nodes[step.node].variable, _received(program, step)) for step in program.leaf_steps(pass_)]
    ends += [(one.tensor, largest(one.value)) for one in pass_.captures]
    ends = [(tensor, size) for tensor, size in ends if size >= STEEP * seed > 0]
    if not ends or not program.sizes.results_are_finite:
        return {}
    root = max([largest(recording.value(ref)) for ref in pass_.root_tensors], default=0.0)
    found = {}
    for tensor, gradient in ends:
        record = recording.tensors[tensor] if tensor is not None else None
        if record is not None and record.node is not None:
            # What begins at 0 will not stay there.
            own = max(map(largest, record.values.values()), default=0.0) or 1.0
            if own * gradient >= ENORMOUS * seed * max(root, 1.0):
                found[record.node] = gradient
    return found


def _received(program: Program, step: BackwardStep) -> float:
    return max(map(program.sizes.largest, step.grad_outputs), default=0.0)


def _is_steep(program: Program, step: BackwardStep) -> bool:
    """Whether an operation whose slope has no bound enlarges what it receives that much."""
    node, largest = program.recording.nodes[step.node], program.sizes.largest
    term = max([one.term for one in step.deliveries], key=largest, default=None)
    if not largest(term) >= STEEP * _received(program, step) > 0 or _maker(program, node) is None:
        return False
    found = _steered_at(program, node, term)
    return found is None or program.does(node, "mul", *_AT_ONE) or abs(found[1]) < NEAR  # else a large numerator is


def _maker(program: Program, node: NodeRecord) -> NodeRecord | None:
    """The operation whose slope has no bound: this one or, of a product, the one that made its larger factor."""
    if program.does(node, *_DIVISIONS, *_LOGARITHMS, *_AT_ZERO, *_AT_ONE):
        return node
    factor = _steered_by(program, node) if program.does(node, "mul") else None
    maker = maker_at(program, node, node.operands.index(factor)) if factor is not None else None
    return maker if maker is not None and program.does(maker, *_DIVISIONS, *_AT_ZERO) else None


def _reached(program: Program, position: int, step: BackwardStep, ends: Mapping[int, float]) -> int | None:
    """One of these nodes to which gradients lead that are about as large as what the step sends."""
    least = STEEP * _received(program, step) / 1e3  # a matrix may have small weights
    waiting, seen = [step], {step.node}
    for one in waiting:  # it grows on the way
        for delivery in one.deliveries:
            if delivery.node in seen or program.sizes.largest(delivery.term) < least:
                continue
            if delivery.node in ends:
                return delivery.node
            seen.add(delivery.node)
            if (following := program.steps[position].get(delivery.node)) is not None:
                waiting.append(following)
    return None


def _finding(program: Program, position: int, step: BackwardStep, end: int, reached: float) -> Finding:
    node, op = program.recording.nodes[step.node], program.recording.nodes[step.node].op.rstrip("_")
    term = max([one.term for one in step.deliveries], key=program.sizes.largest)
    received, sent = _received(program, step), program.sizes.largest(term)
    sizes = f"{format_number(received, 2)} to {format_number(sent, 2)}"
    growth = format_number(sent / received, 2)
    found = _steered_at(program, node, term)
    where = f", where {found[0]} = {format_number(found[1])}" if found is not None else ""
    lines = [f"{op} makes the gradient {growth} times as large{where}."]
    if isinstance(term, np.ndarray):
        many = int((np.abs(term) >= STEEP * received).sum())
        lines.append(f"{many:,} of {count(term.size, 'element')} become at least {STEEP:,.0f} times as large.")
    maker = _maker(program, node) or node
    if maker is not node:
        lines.append(f"That factor comes from {maker.op} at {at(maker.place)}.")
    lines.append(f"The gradient of {program.name(end)} reaches {format_number(reached, 2)}.")
    return Finding(
        "steep slope", "warning", headline(f"The gradient explodes in one step: {sizes} at {op}, {at(node.place)}"),
        tuple(lines), _remedy(program, maker), node.place, position, step.index, node.id, program.tensor_of(node),
    )  # fmt: skip


def _steered_at(program: Program, node: NodeRecord, term: Value | None) -> tuple[str, float] | None:
    """`x[3, 0]` and 1e-12: the number with which the slope goes, where the gradient is largest; None if unknown."""
    operand = _steered_by(program, node)
    if operand is None or operand.ref is None or not isinstance(term, np.ndarray):
        return None
    index, value = index_of_largest(term), program.recording.value(operand.ref)
    number = element(value, term.shape, index)
    if number is None or not isinstance(value, np.ndarray):
        return None
    name = program.operand_name(operand)
    own = index[len(index) - value.ndim :]
    at_own = tuple(0 if size == 1 else i for size, i in zip(value.shape, own, strict=True))
    return indexed(name, at_own) if not name.startswith("%") else f"{name}{index_text(at_own)}", number


def _steered_by(program: Program, node: NodeRecord) -> Operand | None:
    """The operand that the slope goes with: a divisor, the larger factor, or what a function is taken of."""
    if program.does(node, "mul"):
        return max(node.operands, key=lambda one: program.sizes.largest(program.recording.value(one.ref)), default=None)
    place = 1 if program.does(node, *_DIVISIONS) else 0
    return node.operands[place] if len(node.operands) > place else None


def _remedy(program: Program, node: NodeRecord) -> str:
    if node.op in _WITH_EPS:
        return f"Rows next to 0 have no direction: pass {node.op} a larger eps, such as eps=1e-3, or leave them out."
    if program.does(node, *_DIVISIONS, "reciprocal"):
        return (
            "What keeps the divisor from 0 is too small: its inverse is the slope. Add a larger number to it, or clamp "
            "it at one, or leave such elements out before the division."
        )
    if program.does(node, *_LOGARITHMS):
        return (
            "What keeps the input from 0 is too small: its inverse is the slope. Add a larger number, or take "
            "log_softmax or logsigmoid of the scores."
        )
    if program.does(node, *_AT_ONE):
        return "Clamp the input farther from the ends of the domain, such as by x.clamp(-0.999, 0.999)."
    return "The slope has no bound at 0: add a larger number to the input, or clamp it at one."
