"""Leaves whose gradient is zero everywhere, and where it became zero."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import numpy as np

from microtape.recording.findings.finding import Finding, Severity
from microtape.recording.findings.gradients.settled_terms import LOSSES, bound_of, has_no_residual, may_be_saturated
from microtape.recording.findings.gradients.single_numbers import is_of_single_numbers, share_of_single_numbers
from microtape.recording.findings.hooks import by_a_hook, zeroing_hook
from microtape.recording.findings.program import Program
from microtape.recording.findings.values.stable_forms import underflown_product
from microtape.recording.findings.wording import at, headline, join
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import BackwardStep, NodeRecord, Operand, Recording, TensorRecord, TensorRef, Value
from microtape.recording.model.source import is_installed

_FEWEST = 2  # passes in a row, for a layer that had gradients before
_EXAMPLES = 8  # at least in two passes: of one or two examples, a layer may well be zero
_MOST_ORIGINS = 8  # of one leaf
_FURTHEST = 8  # how many tensors are looked at for what was dead before
_DEAD = ("relu", "relu6", "threshold", "hardtanh", "clamp", "clamp_min", "clamp_max", "clip", "hardsigmoid")
_SATURATED = ("sigmoid", "tanh", "softmax", "log_softmax", "logsigmoid", "erf")
_RESIDUALS = ("pow", "square", "abs", *LOSSES, "norm")
_JOINING = ("cat", "stack")
_SUMS = ("add", "sub", "sum", "mean", "expand", "index", "select", "slice", "neg", "view", "reshape")
_BIASES = {"AddmmBackward0": 0, "BaddbmmBackward0": 0, "AddmvBackward0": 0, "ConvolutionBackward0": 2}
"""Which of the gradients is a plain sum."""
VIEWS = ("TBackward0", "TransposeBackward0", "PermuteBackward0", "ViewBackward0", "UnsafeViewBackward0")
_FLAT_TWICE = ("threshold_backward", "leaky_relu_backward")
_MEANT = "This may well be meant."
DRAWN = ("normal", "bernoulli", "poisson", "binomial")
_PRODUCTS = ("linear", "addmm", "matmul", "mm")
ROUNDED = ("round", "floor", "ceil", "sign", "trunc", "heaviside", "fix", "sgn")


def only_zeros(recording: Recording) -> dict[str, bool]:
    """For each leaf that a gradient reached, by name, whether it was zero everywhere in every pass."""
    program = Program(recording)
    return {program.name(leaf): all(passes.values()) for leaf, passes in zero_by_pass(program).items()}


def zero_gradients(program: Program) -> Iterator[Finding]:
    """One finding for each line where a gradient became zero everywhere, if leaves got nothing else."""
    seen = zero_by_pass(program)
    zero = [leaf for leaf, passes in seen.items() if all(passes.values())]
    if not zero:
        yield from _died(program, seen)
        return
    found: dict[object, tuple[int, BackwardStep, list[str]]] = {}
    for position, steps in enumerate(program.steps):
        reached = [one for one in zero if one in steps and not _is_by_product(program, position, one)]
        origins = origins_of_zeros(program, position, reached) if reached else {}
        for leaf in reached:
            name = program.name(leaf)
            for origin in origins.get(leaf, {}).values():
                step = _dead_before(program, position, origin)
                node = program.node(step.node)
                if (node.place, node.op) in found and name in found[node.place, node.op][2]:
                    continue
                if not all(math.isfinite(program.sizes.largest(one)) for one in program.results(node)):
                    continue  # what is NaN, such as the mean of nothing, is another finding
                if is_of_single_numbers(program, node):
                    continue  # so is this
                if node.kind == "operation" and not node.formula and _sends_more(program, step):
                    continue  # such as the zero point of a quantisation, while nothing lies outside of its range
                is_first = position == min(seen[leaf])
                if program.does(node, *_DEAD) and not is_first and not _is_layer(program, position, node.id):
                    continue  # a loss, such as a hinge, that has nothing left to ask for
                _, _, names = found.setdefault((node.place, node.op), (position, step, []))
                names.append(name)
    told = [(_finding(program, position, step, names), set(names)) for position, step, names in found.values()]
    in_earnest = {name for one, names in told if one.severity != "notice" for name in names}
    left = (one for one, names in told if one.severity != "notice" or not names <= in_earnest)
    yield from {one.headline: one for one in left}.values()


def _is_by_product(program: Program, position: int, leaf: int) -> bool:
    """Whether nobody asks for a leaf's gradient in this pass: `grad()` took it elsewhere, and no step uses `.grad`.

    The points at which a gradient penalty takes the slope of a critic are such leaves: of a critic with relu, backward
    gives them zeros, and its weights what they need.
    """
    variable = program.node(leaf).variable
    if variable is None or variable in program.updated or variable not in program.asked:
        return False
    return all(one.tensor != variable for one in program.recording.passes[position].captures)


def zero_by_pass(program: Program) -> dict[int, dict[int, bool]]:
    """For each AccumulateGrad node, whether its gradient was zero everywhere, by the passes that reached it."""
    seen: dict[int, dict[int, bool]] = {}
    is_all_zero = program.sizes.is_zero
    for position, pass_ in enumerate(program.recording.passes):
        for step in program.leaf_steps(pass_):
            if any(one is not None for one in step.grad_outputs):
                is_zero = all(is_all_zero(one) for one in step.grad_outputs if _counts(one))
                seen.setdefault(step.node, {})[position] = is_zero and any(map(_counts, step.grad_outputs))
    return seen


def _died(program: Program, seen: Mapping[int, Mapping[int, bool]]) -> Iterator[Finding]:
    """A finding if a hidden layer has died: leaves that got gradients at first, and got none in the last passes."""
    ends = {leaf: [position for position, is_zero in passes.items() if is_zero] for leaf, passes in seen.items()}
    dead = [leaf for leaf, zero in ends.items() if len(zero) >= _FEWEST and zero == [*seen[leaf]][-len(zero) :]]
    if not dead:
        return
    position = ends[dead[0]][0]
    dead = [leaf for leaf in dead if ends[leaf][0] == position]
    found = origins_of_zeros(program, position, dead)
    for step in {one.index: one for leaf in dead for one in found.get(leaf, {}).values()}.values():
        step = _dead_before(program, position, step)
        shapes = [one.shape for one in program.results(program.node(step.node)) if len(one.shape) > 1]
        if not shapes or shapes[0][0] < _EXAMPLES:
            continue
        if program.does(program.node(step.node), *_DEAD) and _is_layer(program, position, step.node):
            finding = _finding(program, position, step, [program.name(leaf) for leaf in dead])
            since = f"It was not so before {program.pass_name(position)}, and has been so in every pass since."
            yield finding._replace(explanation=(*finding.explanation, since))
            return


def _is_layer(program: Program, position: int, node: int) -> bool:
    """Whether another layer follows, or a loss that compares this one with a target.

    Else a loss, such as a hinge, may just have nothing left to ask for.
    """
    evaluated, is_leaf = set(program.recording.passes[position].nodes), program.is_leaf
    for follower in [program.node(one) for one in program.users(node) if one in evaluated]:
        differences = program.users(follower.id) if program.does(follower, "sub") else ()
        if program.does(follower, *LOSSES) or any(program.does(program.node(one), *_RESIDUALS) for one in differences):
            return True
    waiting, seen = [node], {node}
    while waiting:
        for user in program.users(waiting.pop()):
            if user in evaluated and user not in seen:
                seen.add(user)
                waiting.append(user)
    behind = [edge.node for one in seen - {node} for edge in program.node(one).edges if edge.node is not None]
    further = [edge.node for one in behind for edge in program.node(one).edges if program.node(one).name in VIEWS]
    return any(is_leaf[one] for one in (*behind, *further) if one is not None)


def _counts(value: Value | None) -> bool:
    return value is not None and int(np.prod(value.shape)) > 0


def _sends_more(program: Program, step: BackwardStep) -> bool:
    return any(one.term is not None and not _is_zero(program, one.term) for one in step.deliveries)


def _is_zero(program: Program, value: Value | None) -> bool:
    return value is not None and program.sizes.is_zero(value)


def origins_of_zeros(program: Program, position: int, leaves: Sequence[int]) -> dict[int, dict[int, BackwardStep]]:
    """For each of these leaves, the first steps that received something and sent only zeros on the way to it.

    The steps on the way are found from the leaves back; then, in the order in which they ran, each passes on what its
    senders have passed on to it.
    """
    steps, largest = program.recording.passes[position].steps, program.sizes.largest
    is_zero = program.sizes.is_zero
    program.sizes.measure([one.term for step in steps for one in step.deliveries])
    on_the_way: list[tuple[BackwardStep, bool, list[int]]] = []
    wanted = set(leaves)
    for step in reversed(steps):
        sent: dict[int, bool] = {}  # receiver -> whether it got more than zeros
        for one in step.deliveries:
            if one.node in wanted and one.term is not None:
                sent[one.node] = sent.get(one.node, False) or not is_zero(one.term)
        receivers = [node for node, is_more in sent.items() if not is_more]  # else what several nodes sent cancels
        if receivers:
            is_origin = any([largest(value) > 0 for value in step.grad_outputs]) or bool(zeroing_hook(program, step))
            on_the_way.append((step, is_origin, receivers))
            if not is_origin:
                wanted.add(step.node)
    found: dict[int, dict[int, BackwardStep]] = {}  # node -> by their own nodes
    for step, is_origin, receivers in reversed(on_the_way):
        own = {step.node: step} if is_origin else found.get(step.node, {})
        for receiver in receivers:
            known = found.setdefault(receiver, {})
            known.update(islice(own.items(), max(0, _MOST_ORIGINS - len(known))))
    for leaf in leaves:
        if zeroing_hook(program, step := program.steps[position][leaf]) is not None:
            found[leaf] = {leaf: step}
    return found


def _dead_before(program: Program, position: int, step: BackwardStep) -> BackwardStep:
    """The step of the dead operation whose zeros this step multiplied with, perhaps after a dropout; else itself."""
    refs = [one.ref for one in program.node(step.node).operands]
    for ref in islice(refs, _FURTHEST):  # it grows on the way
        number = program.producer.get(ref) if ref is not None else None
        value = program.recording.value(ref)
        if number is None or not isinstance(value, np.ndarray) or not value.size or value.any():
            continue
        if program.does(program.node(number), *_DEAD) and number in program.steps[position]:
            return program.steps[position][number]
        refs += [one.ref for one in program.node(number).operands]
    return step


def _finding(program: Program, position: int, step: BackwardStep, every: Sequence[str]) -> Finding:
    node, names = program.node(step.node), list(dict.fromkeys(every))
    pass_ = program.recording.passes[position]
    hook = zeroing_hook(program, step)
    if hook is not None:
        return by_a_hook(program, position, step, hook, names)
    why, lines, severity, remedy = _read_once() if all(map(_REVERSED.search, names)) else _reason(program, node, step)
    roots = [program.recording.value(ref) for ref in pass_.root_tensors]
    if program.does(node, *_DEAD) and roots and all(_is_zero(program, value) for value in roots):
        severity = "notice"
        lines.append(f"{program.root_name(pass_)} is 0: there is nothing left to learn.")
    whose = join(names, 3)
    text = headline(
        f"The gradient of {whose} is zero: {why} at {at(node.place)}",
        f"The gradient of {names[0]} is zero: {why} at {at(node.place)}",
        f"A gradient becomes zero at {at(node.place)}: {why}",
        f"A gradient becomes zero at {node.op}, {at(node.place)}",
    )
    received = max(program.sizes.largest(value) for value in step.grad_outputs)
    if received > 0:  # of what was dead before the step, it may be nothing
        what = f"{program.name(node.id)} received gradients up to {format_number(received)}"
        lines.insert(0, f"{what}, and sent only zeros on the way to {join(names)}.")
    whose = join(names) if received == 0 else "them" if len(names) > 1 else "it"
    lines.append(f"Nothing else reaches {whose}.")
    place = node.place or pass_.place
    return Finding(
        "zero gradient", severity, text, tuple(lines), remedy, place, position, step.index, node.id,
        program.tensor_of(node),
    )  # fmt: skip


_REVERSED = re.compile(r"(^|\.)weight_hh_l\d+_reverse$")
"""The weights by which the backward direction of a recurrent layer multiplies its state."""


def _read_once() -> tuple[str, list[str], Severity, str]:
    lines = ["The backward direction begins at the end of the sequence, with a state of zeros.",
             "So what it has there comes from its first step alone, which has read one element."]  # fmt: skip
    remedy = "Use the last states, h_n, or the first element of the backward half, instead of output[:, -1]."
    return "only its first step is used", lines, "warning", remedy


def _reason(program: Program, node: NodeRecord, step: BackwardStep) -> tuple[str, list[str], Severity, str]:
    op = node.op.rstrip("_")
    operand = next((one for one in _multiplied(program, node) if one.ref is not None), None)
    name = program.operand_name(operand) if operand is not None else "its input"
    value = program.recording.value(operand.ref) if operand is not None else None
    extent = _extent(value)
    if node.pass_ is not None and program.doing(*_FLAT_TWICE):
        return (
            "relu has no curvature",
            ["This is a second derivative: that of relu is 0 everywhere, since its slope is 0 or 1."],
            "warning",
            "Use an activation that is curved, such as tanh, gelu or softplus, where the loss has a second derivative.",
        )
    if (bounded := bound_of(program, node)) is not None:
        given, bound = bounded
        lines = [f"{name} is {given}, and {op} takes {bound} in its place: there, the loss does not depend on {name}."]
        return f"{op} takes {bound}", lines, "notice", f"Nothing, if {name} is to count only beyond {bound}."
    if (weight := _zero_weight(program, operand.ref if operand is not None else None)) is not None:
        flat = f"{op} is flat there" if program.does(node, *_DEAD) else "the gradient is multiplied by it"
        lines = [f"All of {weight} is 0, and so is what comes in: {flat}."]
        return f"{weight} is zero", lines, "warning", f"Start {weight} at small random numbers, as a new layer does."
    if program.does(node, *_DEAD):
        lines = [f"All of {name} lies where {op} is flat{extent}."]
        remedy = (
            "Change what comes in: a smaller learning rate, another initial weight or bias, or an operation that is "
            "flat nowhere, such as leaky_relu."
        )
        return f"{op} is flat for all of {name}", lines, "warning", remedy
    if (share := share_of_single_numbers(program, node)) is not None:
        lines = [f"It is taken over a dimension with a single number, so that it is always {share}."]
        sigmoid = "logsigmoid" if share == 0 else "sigmoid"
        remedy = f"For two classes, use {sigmoid}; else take {op} over the dimension of the classes."
        return f"{op} of a single number is {share}", lines, "warning", remedy
    if program.does(node, "embedding") and (padding := [one.text for one in node.operands if "padding" in one.text]):
        lines = [f"Every index is that of the padding ({padding[0]}), whose row gets no gradient."]
        return "all is padding", lines, "warning", "Let padding_idx be an index that only the padding has."
    if program.does(node, *_SATURATED) and may_be_saturated(program, node):
        lines = [f"{op} of {name} is so close to its limit that its derivative rounds to 0{extent}."]
        remedy = (
            "Keep its input small: scale the weights or the data, or use the loss that takes the scores themselves."
        )
        return f"{op} is saturated", lines, "warning", remedy
    if program.does(node, *ROUNDED):
        return (
            f"{op} is flat everywhere",
            [f"The derivative of {op} is 0."],
            "warning",
            (f"Use a straight-through estimator, such as x + ({op}(x) - x).detach()."),
        )
    if program.does(node, *DRAWN):
        remedy = (
            "Draw mean + std * randn_like(std), which has a derivative by both." if program.does(node, "normal")
            else "Use the log_prob of what was drawn, or a relaxation, such as gumbel_softmax."
        )  # fmt: skip
        return f"{op} draws numbers", [f"What {op} draws has no derivative by {name}."], "warning", remedy
    if has_no_residual(program, node):
        lines = [f"{op} compares what is equal, where it has its minimum: nothing is to be changed yet."]
        return f"{op} is 0", lines, "notice", _MEANT
    if program.does(node, *_RESIDUALS) and isinstance(value, np.ndarray) and not value.any():
        lines = [f"{name} is zero everywhere, where {op} has its minimum: nothing is left to learn from it."]
        return f"{name} is zero", lines, "notice", f"If that is too good to be true, look at how {name} is computed."
    if (advice := underflown_product(program, node)) is not None:
        return advice.said, list(advice.lines), "warning", advice.remedy
    zero = {one.output for one in step.deliveries if _is_zero(program, one.term)}
    if program.does(node, *_JOINING):
        return f"only other parts of {op} count", ["What comes back to this part of it is zero."], "notice", _MEANT
    if program.does(node, *_SUMS) or {_BIASES.get(node.name)} == zero:
        return (
            f"{op} adds up terms that cancel",
            ["The terms cancel: their sum is zero."],
            "notice",
            _MEANT,
        )
    factor = _zero_factor(program, node) if node.formula else None  # else it is not known to be a factor
    if factor is not None:
        other, is_parameter = factor
        lines = [f"{other} is zero everywhere, and the gradient is multiplied by it."]
        remedy = (
            f"Start {other} at small random numbers, or see whether a later pass changes it." if is_parameter
            else "If it is the state that each step begins with, give the next one the result; else see how it is made."
            if program.does(node, *_PRODUCTS) else f"Look at {other}: it masks everything."
        )  # fmt: skip
        severity: Severity = "notice" if is_parameter or is_installed(node.place) else "warning"
        return f"{other} is zero", lines, severity, remedy
    if program.does(node, "mul") and any(one.ref is None and one.text in ("0", "0.0", "-0.0") for one in node.operands):
        severity = "notice" if is_installed(node.place) else "warning"
        return f"{name} is multiplied by 0", [], severity, "See where the 0 comes from, if it is not meant."
    if node.kind == "function":
        return f"{node.op}.backward returns zeros", [], "warning", f"Look at the backward of {node.op}."
    return (
        f"{op} sends only zeros",
        [f"{name}{extent}."] if extent else [],
        "warning",
        ("Look at the numbers that it saved, in the stepper."),
    )


def _multiplied(program: Program, node: NodeRecord) -> list[Operand]:
    """The operands of a node without a bias that it adds."""
    if node.name not in _BIASES:
        return list(node.operands)
    tensors = program.recording.tensors
    return [one for one in node.operands if one.ref is None or len(tensors[one.ref.tensor].shape) > 1]


def _zero_weight(program: Program, ref: TensorRef | None) -> str | None:
    """The weight that is zero everywhere, if an operand is so because of it, perhaps behind an activation."""
    refs = [ref]
    for one in islice(refs, _FURTHEST):  # it grows on the way
        value, number = program.recording.value(one), program.producer.get(one) if one is not None else None
        if number is None or not isinstance(value, np.ndarray) or value.any():
            continue
        operands = _multiplied(program, program.node(number))
        for operand in operands:
            leaf = leaf_behind(program, operand.ref) if operand.ref is not None else None
            weight = program.recording.value(operand.ref)
            if leaf is not None and len(leaf.shape) > 1 and isinstance(weight, np.ndarray) and not weight.any():
                return leaf.name or program.operand_name(operand)
        refs += [operand.ref for operand in operands]
    return None


def _extent(value: Value | None) -> str:
    if not isinstance(value, np.ndarray) or not value.size or value.dtype.kind not in "fiu":
        return ""
    low, high = (format_number(x) for x in (value.min(), value.max()))
    return f": it is {low}" if low == high else f": its numbers are between {low} and {high}"


def _zero_factor(program: Program, node: NodeRecord) -> tuple[str, bool] | None:
    """Another operand that is zero everywhere, and whether it is a leaf that gets a gradient of its own."""
    for one in _multiplied(program, node):
        value = program.recording.value(one.ref) if one.ref is not None else None
        if one.ref is not None and isinstance(value, np.ndarray) and value.size and not value.any():
            leaf = leaf_behind(program, one.ref)
            return (leaf.name or program.operand_name(one), True) if leaf else (program.operand_name(one), False)
    return None


def leaf_behind(program: Program, ref: TensorRef) -> TensorRecord | None:
    """The leaf that a tensor is, or a view of, such as the transpose of a weight; None if it is neither."""
    record = program.recording.tensors[ref.tensor]
    number = program.producer.get(ref)
    while number is not None and record.node is not None:
        node = program.node(number)
        if node.name not in VIEWS or len(node.edges) != 1:
            return None
        number = node.edges[0].node
        if number is not None and (variable := program.node(number).variable) is not None:
            return program.recording.tensors[variable]
    return record if record.is_leaf and record.requires_grad else None
