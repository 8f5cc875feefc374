"""Losses that take any number as a score, and are given the results of a function that has bounds, such as relu."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.histories import SAME_NUMBERS, input_at, inputs
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.wording import at, count, headline
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import NodeRecord, Place, Summary, Value
from microtape.recording.model.source import is_installed

_OF_CLASSES, _OF_LABELS = ("nll_loss", "nll_loss2d"), ("binary_cross_entropy_with_logits",)
_BOUNDS: Mapping[str, tuple[str, ...]] = {
    "relu": (*_OF_CLASSES, *_OF_LABELS),
    "tanh": (*_OF_CLASSES, *_OF_LABELS),
    "softplus": _OF_LABELS,  # of classes, only the differences of scores count, and these may be anything
    "abs": _OF_LABELS,
}
"""Which losses suffer from the bounds of a function; sigmoid and softmax are told by `probabilities_for_scores`."""


def bounded_scores(program: Program) -> Iterator[Finding]:
    """One finding for each place where relu, tanh and the like bound the scores that a loss gets."""
    told: set[Place | None] = set()
    for node in program.doing(*_OF_CLASSES, *_OF_LABELS) if program.doing(*_BOUNDS) else ():
        made = _bounded(program, node) if node.place is not None and node.place not in told else None
        which = next((one for one in _BOUNDS if made is not None and program.does(made, one)), "")
        if made is None or not program.does(node, *_BOUNDS.get(which, ())):
            continue
        lines = _of_relu(program, node, made) if which == "relu" else _of_others(program, node, made, which)
        if lines and made.place not in told:  # the scores may go to several losses
            told.update((node.place, made.place))
            yield _finding(program, node, made, which, lines)


def _bounded(program: Program, node: NodeRecord) -> NodeRecord | None:
    """The first node before a loss that does more than to change the shape of the scores, or to drop some."""
    one, is_scaled, is_dropped = input_at(program, node, 0), program.does(node, *_OF_LABELS), False
    while one is not None:
        if not is_scaled and program.does(one, "log_softmax"):
            is_scaled = True
        elif _drops(program, one):
            is_dropped = True
        elif not program.does(one, *SAME_NUMBERS):
            break
        one = input_at(program, one, 0)
    if one is None or (is_dropped and program.does(one, "tanh")):
        return None  # a dropout makes what it keeps larger than 1
    return one if is_scaled else None


def _drops(program: Program, node: NodeRecord) -> bool:
    """Whether a node is a dropout: a product with a constant that is 0 in some places, and a number in all others."""
    if program.does(node, "dropout", "native_dropout"):
        return True
    if not program.does(node, "mul") or len(inputs(program, node)) != 1:
        return False
    constants = [program.recording.value(ref) for ref in operand_refs(node) if ref not in program.producer]
    mask = constants[0] if len(constants) == 1 else None
    if not isinstance(mask, np.ndarray) or not mask.ndim or mask.size < 2:
        return False
    most = mask.max()
    return bool(most >= 1 and ((mask == 0) | (mask == most)).all() and (mask == 0).any())


def _loss(program: Program, node: NodeRecord) -> str:
    """What the program calls the loss: `cross_entropy` takes the logarithm of softmax at the same place."""
    if program.does(node, *_OF_LABELS):
        return "bce_with_logits"
    before = input_at(program, node, 0)
    return "cross_entropy" if before is not None and before.place == node.place else "nll_loss"


def _of_relu(program: Program, node: NodeRecord, made: NodeRecord) -> tuple[str, ...]:
    """What relu does to the scores; nothing if it leaves all as they are."""
    value = next(iter(program.results(made)), None)
    zeros, size = _zeros(value), math.prod(value.shape) if value is not None else 0
    if not zeros:
        return ()
    if program.does(node, *_OF_LABELS):
        what = "A score of 0 is the probability 1/2: none can be smaller, so no label is ever found to be unlikely."
    else:
        what = "No class can get a score below 0, and those at 0 get no gradient."
    return (f"Of {count(size, 'score')}, {zeros:,} are 0 ({zeros / size:.0%}): relu gives nothing below.", what)


def _zeros(value: Value | None) -> int:
    """How many elements are 0."""
    if value is None or isinstance(value, Summary):
        return value.zeros if value is not None else 0
    return int(np.count_nonzero(value == 0))


def _of_others(program: Program, node: NodeRecord, made: NodeRecord, which: str) -> tuple[str, ...]:
    if which != "tanh":
        return (f"{which} gives nothing below 0, and a score of 0 is the probability 1/2: none can be smaller.",)
    if program.does(node, *_OF_LABELS):
        least = format_number(math.log1p(math.exp(-1)))
        return (f"Scores lie between -1 and 1, so the loss of an element cannot fall below {least}.",)
    shape = program.shape_of(made) or ()
    classes = shape[-1] if len(shape) in (1, 2) else 0
    if classes < 2:
        return ("Scores lie between -1 and 1, so the loss cannot come near 0.",)
    least = format_number(math.log1p((classes - 1) * math.exp(-2)))
    return (f"Scores lie between -1 and 1, so of {classes} classes the loss cannot fall below {least}.",)


def _finding(program: Program, node: NodeRecord, made: NodeRecord, which: str, lines: tuple[str, ...]) -> Finding:
    name, loss = program.name(made.id), _loss(program, node)
    place = node.place if made.place is None or is_installed(made.place) else made.place
    bounds = "between -1 and 1" if which == "tanh" else "at or above 0"
    is_named = not name.startswith("%") and which not in name.lower()
    text = headline(
        *([f"{which} keeps {name}, the scores of {loss}, {bounds}: {at(place)}"] if is_named else []),
        f"{which} keeps the scores of {loss} {bounds}: {at(place)}",
        f"{which} keeps scores {bounds}: {at(place)}",
    )
    return Finding(
        "probabilities", "warning", text,
        (*lines, f"{loss} at {at(node.place)} takes any numbers as scores."),
        f"Give {loss} the scores without {which}: the layer before it is to be the last one.",
        place, program.pass_after(node.id), None, made.id, program.tensor_of(made),
        (("used", node.place),) if node.place is not None and node.place != place else (),
    )  # fmt: skip
