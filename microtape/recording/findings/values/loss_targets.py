"""Targets that are none for their loss: it computes a number all the same, and no error shows the mistake."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.histories import SAME_NUMBERS, input_at, inputs, is_parameter
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.wording import at, count, headline
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import NodeRecord, Place, Summary, TensorRef

if TYPE_CHECKING:
    import numpy.typing as npt

    Array: TypeAlias = npt.NDArray[Any]

_MOST_CALLS = 8  # of one line that are looked at
_FAR_OUTSIDE = 0.5  # of 0 to 1: some add noise to labels on purpose, or resize a mask by a method that overshoots
_BYTE = 255
_LAYERS = ("linear", "addmm", "mm", "matmul")
_CONVOLUTIONS = ("conv1d", "conv2d", "conv3d", "convolution")
_OF_ZERO = {  # what such a loss does where its target is 0
    "cosine_embedding_loss": "An example whose target is 0 is left out: its loss is 0, and so is its gradient.",
    "hinge_embedding_loss": "Where the target is 0, both cases are added up: the distance should be small and large.",
    "margin_ranking_loss": "Where the target is 0, the loss is the margin, whatever the inputs are: no gradient.",
    "soft_margin_loss": "Where the target is 0, the loss is ln 2, whatever the input is: no gradient.",
}


def unfit_targets(program: Program) -> Iterator[Finding]:
    """One finding for each place where a loss gets a target that it is not made for."""
    for ops, check in _CHECKS:
        calls: dict[Place, list[NodeRecord]] = {}
        for node in program.doing(*ops):
            if node.place is not None:
                calls.setdefault(node.place, []).append(node)
        for nodes in calls.values():
            if (found := check(program, nodes[:_MOST_CALLS])) is not None:
                yield found


def _finding(
    program: Program, node: NodeRecord, mistake: str, name: str, explanation: tuple[str, ...], remedy: str
) -> Finding:
    return Finding(
        "target", "warning", headline(f"{mistake}: {name}" if name != _TARGET else mistake, mistake), explanation,
        remedy, node.place, program.pass_after(node.id), None, node.id, program.tensor_of(node),
    )  # fmt: skip


_TARGET = "the target"


def _name(program: Program, target: TensorRef) -> str:
    name = program.ref_name(target)
    return name if not name.startswith(("%", "a tensor")) else _TARGET


def _sentence(text: str) -> str:
    """A sentence that begins with a name, or with `a part of` one, which gets a capital letter."""
    return text[0].upper() + text[1:] if text.startswith(("a part of ", _TARGET)) else text


def _is_averaged(program: Program, node: NodeRecord) -> bool:
    """Whether a loss of many examples is one number, or made one at once: else some may be left out by a mask."""
    if not program.shape_of(node):
        return True
    users = [program.node(one) for one in program.users(node.id)]
    return bool(users) and all(program.does(one, "sum", "mean") for one in users)


def _no_probabilities(program: Program, nodes: Sequence[NodeRecord]) -> Finding | None:
    """Targets of binary cross entropy that are far outside of 0 to 1, unless weights may leave them out."""
    for node in nodes:
        target = next((one.ref for one in node.saved if one.name in ("y", "target")), None)
        least, most = _range(program, target) if target is not None else (0.0, 1.0)
        if target is None or (least >= -_FAR_OUTSIDE and most <= 1 + _FAR_OUTSIDE):
            continue
        is_weighted = any(one.name == "weight" for one in node.saved) or any(
            one.text.startswith("weight=") for one in node.operands
        )
        if is_weighted or not _is_averaged(program, node):
            continue
        name, numbers = _name(program, target), f"{format_number(least)} to {format_number(most)}"
        return _finding(
            program, node, f"bce_with_logits at {at(node.place)} takes targets from 0 to 1, not {numbers}", name,
            (_sentence(f"{name} goes from {numbers}; a target is the probability of a label."),
             "Where it is above 1 or below 0, the loss falls without end as the score grows: it has no minimum."),
            _scaled(program, target, name if name.isidentifier() else "target", least, most),
        )  # fmt: skip
    return None


def _scaled(program: Program, target: TensorRef, name: str, least: float, most: float) -> str:
    """How such a target becomes a probability."""
    value = program.recording.value(target)
    several = np.unique(value).tolist() if isinstance(value, np.ndarray) else []
    if most == _BYTE and least >= 0:
        return f"Divide it by 255: {name} / 255."
    if 0 < len(several) <= 2 and least == -1:
        return f"Make the labels 0 and 1: ({name} + 1) / 2."
    if len(several) == 2 and most - least == 1:
        return f"Make the labels 0 and 1: {name} - {format_number(least)}."
    if several and least >= 0 and not np.mod(several, 1).any():
        return f"Give numbers of classes to cross_entropy; of a mask, make 0 and 1: ({name} > 0).float()."
    return "Scale it into 0 to 1, or use a loss for any number, such as mse_loss."


def _several_classes(program: Program, nodes: Sequence[NodeRecord]) -> Finding | None:
    """Targets of cross entropy that mark several classes of one example by 1.

    Not where scores are compared with what has made them: the loss of a set may be the sum of those of its members.
    """
    for soft in nodes:
        users = map(program.node, program.users(soft.id))
        product = next((one for one in users if _is_of_call(program, one, soft)), None)
        if product is None:
            continue
        refs = [one for one in operand_refs(product) if program.producer.get(one) != soft.id]
        value = program.recording.value(refs[0]) if len(refs) == 1 else None
        if not isinstance(value, np.ndarray) or value.dtype.kind != "f" or not value.size:
            continue
        along = 1 if value.ndim > 1 else 0
        marked = value.sum(axis=along, dtype=np.float64)
        is_mixed = (marked > 1) & (marked < value.shape[along])  # label_smoothing gives all classes a share
        if not ((value == 0) | (value == 1)).all() or not is_mixed.any():
            continue
        if not _is_of_a_layer(program, soft, value.shape[along]) or _has_such_an_input(program, value.shape, product):
            continue
        name, several, most = _name(program, refs[0]), int(is_mixed.sum()), int(marked[is_mixed].max())
        return _finding(
            program, product, f"cross_entropy at {at(product.place)} takes one class per example, not several",
            name,
            (f"Of {count(marked.size, 'example')} of {name.removeprefix('a part of ')}, {several:,} have "
             f"several of the {value.shape[along]} classes marked by 1, up to {most}. A target is made of "
             "probabilities, whose sum is 1.",
             "softmax makes the classes rivals: a probability can grow only as others shrink."),
            "Use BCEWithLogitsLoss, which decides on each label alone. If only one of the labels can be right, divide "
            "each row by its sum.",
        )  # fmt: skip
    return None


def _is_of_call(program: Program, node: NodeRecord, soft: NodeRecord) -> bool:
    """Whether a node is the product of logarithms and targets, in the same call."""
    return (
        program.does(node, "mul") and node.place == soft.place and {one.node for one in node.edges} == {soft.id, None}
    )


def _is_of_a_layer(program: Program, node: NodeRecord, classes: int) -> bool:
    """Whether scores come right out of a layer with an output for each class.

    Else they may be similarities of pairs, or scores of the members of a list.
    """
    before = input_at(program, node, 0)
    while before is not None and program.does(before, *SAME_NUMBERS, "add"):
        some = [one for one in inputs(program, before) if one.kind != "accumulate"]
        before = some[0] if len(some) == 1 else None
    if before is None or not program.does(before, *_LAYERS, *_CONVOLUTIONS):
        return False
    shape = program.shape_of(before) or ()
    outputs = shape[1:2] if program.does(before, *_CONVOLUTIONS) else shape[-1:]
    return outputs == (classes,) and any(is_parameter(program, one) for one in inputs(program, before))


def _has_such_an_input(program: Program, shape: tuple[int, ...], product: NodeRecord) -> bool:
    """Whether a program computes its scores of something that has the target's shape: it may well be the target."""
    tensors = program.recording.tensors
    for node in program.recording.nodes[: product.id]:
        for ref in operand_refs(node) if node.place != product.place else ():
            if tensors[ref.tensor].shape == shape and not tensors[ref.tensor].requires_grad:
                return True
    return False


def _no_signs(program: Program, nodes: Sequence[NodeRecord]) -> Finding | None:
    """Labels 0 and 1 where a loss takes 1 and -1: no call of the line gets a -1, and one gets both others."""
    found: tuple[NodeRecord, TensorRef, Array] | None = None
    for node in nodes:
        labels = [(one, value) for one in _arguments(program, node) if (value := _labels(program, one)) is not None]
        if len(labels) != 1 or not _is_averaged(program, node) or (labels[0][1] == -1).any():
            return None
        ref, value = labels[0]
        if found is None and not value.all() and value.any():
            found = node, ref, value
    if found is None:
        return None
    node, target, value = found
    name = _name(program, target)
    return _finding(
        program, node, f"{node.op} at {at(node.place)} takes targets 1 and -1, not 1 and 0", name,
        (f"{int((value == 0).sum()):,} of the {count(value.size, 'element')} of {name} are 0, the others 1.",
         _OF_ZERO[node.op]),
        f"Make each 0 a -1: 2 * {name if name.isidentifier() else 'target'} - 1.",
    )  # fmt: skip


def _labels(program: Program, argument: TensorRef) -> Array | None:
    """The value of a call's argument, if it is a constant of nothing but -1, 0 and 1."""
    value, record = program.recording.value(argument), program.recording.tensors[argument.tensor]
    if record.requires_grad or not isinstance(value, np.ndarray) or value.dtype.kind not in "iuf" or not value.size:
        return None
    return value if ((value == 0) | (abs(value) == 1)).all() else None


def _arguments(program: Program, node: NodeRecord) -> list[TensorRef]:
    """The tensors that a call was given: the operands of its nodes that none of them has made."""
    first = node.id
    while first > 0 and program.node(first - 1).place == node.place and program.node(first - 1).op != node.op:
        first -= 1
    refs = [ref for one in range(first, node.id + 1) for ref in operand_refs(program.node(one))]
    return [one for one in dict.fromkeys(refs) if program.producer.get(one, -1) < first]


def _with_blanks(program: Program, nodes: Sequence[NodeRecord]) -> Finding | None:
    """Targets of ctc_loss that hold the blank, as far as they are no padding."""
    for node in nodes:
        known = [(one, program.recording.value(one)) for one in operand_refs(node)]
        given = [(one, value) for one, value in known if isinstance(value, np.ndarray) and value.dtype.kind in "iu"]
        if len(given) != 3:
            continue  # lengths that are no tensors are not known
        (target, value), _, (_, lengths) = given
        letters = _without_padding(value, lengths)
        said = (re.fullmatch(r"(?:blank=)?(\d+)", one.text) for one in node.operands if one.ref is None)
        blank = next((int(one[1]) for one in said if one is not None), 0)
        blanks = int((letters == blank).sum())
        if not blanks:
            continue
        name = _name(program, target)
        remedy = f"Give the blank a number that no letter has, such as the last output of the model, not {blank}."
        if not blank:
            remedy = "Number the letters from 1, and give the model one output more than there are letters."
        return _finding(
            program, node, f"The targets of ctc_loss at {at(node.place)} hold {blank}, which is the blank", name,
            (f"{blanks:,} of the {count(letters.size, 'letter')} of {name} are {blank}, which stands for no letter.",
             "The loss looks for blanks between the letters by itself, and leaves them out of what is read."),
            remedy,
        )  # fmt: skip
    return None


def _without_padding(targets: Array, lengths: Array) -> Array:
    """The letters that count: a row may be longer than its text."""
    if targets.ndim == 2 and lengths.shape == targets.shape[:1]:
        return np.asarray(targets[np.arange(targets.shape[1]) < lengths[:, None]])
    return targets[: int(lengths.sum())] if targets.ndim == 1 else targets[:0]


def _range(program: Program, ref: TensorRef) -> tuple[float, float]:
    """The smallest and the largest number of a tensor; 0 and 1 if they are not known or not finite."""
    value = program.recording.value(ref)
    if isinstance(value, Summary):
        is_known = value.min is not None and value.max is not None and not value.nans and not value.infs
        return (float(value.min), float(value.max)) if is_known else (0.0, 1.0)  # type: ignore[arg-type]
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "iuf" or not value.size:
        return 0.0, 1.0
    least, most = float(value.min()), float(value.max())
    return (least, most) if np.isfinite([least, most]).all() else (0.0, 1.0)


_Check: TypeAlias = Callable[[Program, Sequence[NodeRecord]], Finding | None]
_CHECKS: tuple[tuple[tuple[str, ...], _Check], ...] = (
    (("binary_cross_entropy_with_logits",), _no_probabilities),
    (("log_softmax",), _several_classes),
    (tuple(_OF_ZERO), _no_signs),
    (("ctc_loss",), _with_blanks),
)
