"""Losses that take scores, or logarithms, and are given probabilities: they train, but badly, and no error shows it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.histories import SAME_NUMBERS, input_at
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import NodeRecord, Summary, Value
from microtape.recording.model.source import expression, is_installed

_SQUASHING = ("softmax", "sigmoid")
_LOSSES = ("log_softmax", "logsumexp", "binary_cross_entropy_with_logits", "nll_loss", "nll_loss2d")
_CATEGORICAL = "Categorical"  # the distribution, whose `logits` are scores
_ROUNDING = 0.01  # above 0, of logarithms in low precision
_TAKE_LOGARITHMS = ("nll_loss", "kl_div")


def probabilities_for_scores(program: Program) -> Iterator[Finding]:
    """One finding for each place where a loss gets what softmax or sigmoid made, not scores or logarithms."""
    told = set()
    losses = [(node, _loss(program, node)) for node in program.doing(*_LOSSES)]
    for node, what in [*losses, *((node, "kl_div") for node in divergences(program))]:
        found = squashed(program, node, 1 if what == "kl_div" else 0) if what else None
        if found is None or node.place is None or node.place in told:
            continue
        which = "sigmoid" if program.does(found, "sigmoid") else "softmax"
        if which == "sigmoid" and what in ("log_softmax", _CATEGORICAL):
            continue  # of an attention, say: only as a loss is it surely a mistake
        told.add(node.place)
        yield _finding(program, node, found, what, which)


def _loss(program: Program, node: NodeRecord) -> str:
    """The loss that a node belongs to, by the name of its function; empty if it is none of these."""
    if program.does(node, "log_softmax"):
        is_loss = any(program.does(program.node(user), "nll_loss", "nll_loss2d") for user in _users(program, node))
        return "cross_entropy" if is_loss else "log_softmax"
    if program.does(node, "binary_cross_entropy_with_logits"):
        return "binary_cross_entropy_with_logits"
    if program.does(node, "logsumexp"):
        return _CATEGORICAL if f"{_CATEGORICAL}(" in expression(program.recording, node.place) else ""
    return "nll_loss" if program.does(node, "nll_loss", "nll_loss2d") else ""


def divergences(program: Program) -> Iterator[NodeRecord]:
    """The products of target and input in kl_div, which is computed of simpler operations: Σ t · ln t - t · input."""
    text = "".join(program.recording.sources.values())
    for node in program.doing("mul") if "kl_div" in text or "KLDivLoss" in text else ():
        users = [program.node(one) for one in program.users(node.id)]
        is_subtracted = len(users) == 1 and program.does(users[0], "sub") and users[0].edges[-1].node == node.id
        written = expression(program.recording, node.place)
        if is_subtracted and users[0].place == node.place and written.endswith(")") and " * " not in written:
            yield node


def _users(program: Program, node: NodeRecord) -> set[int]:
    """The nodes that get the numbers of a node as they are."""
    found: set[int] = set()
    waiting = [node.id]
    while waiting:
        for user in program.users(waiting.pop()):
            if user not in found and program.does(program.node(user), *SAME_NUMBERS):
                waiting.append(user)
            found.add(user)
    return found


def squashed(program: Program, node: NodeRecord, edge: int) -> NodeRecord | None:
    """The softmax or sigmoid whose results a loss gets, perhaps in another shape."""
    one = input_at(program, node, edge)
    while one is not None and not program.does(one, *_SQUASHING):
        one = input_at(program, one, 0) if program.does(one, *SAME_NUMBERS) else None
    return one


def wrong_dimension(program: Program) -> Iterator[Finding]:
    """One finding for each place where nll_loss gets logarithms that are normalised over the batch, not the classes."""
    told = set()
    for node in program.doing("nll_loss"):
        soft = input_at(program, node, 0)
        if soft is None or soft.place in told or not program.does(soft, "log_softmax"):
            continue
        shape = program.shape_of(soft) or ()
        if len(shape) != 2 or not {"dim=0", "0"} & {one.text for one in soft.operands}:
            continue
        told.add(soft.place)
        examples, classes = shape
        yield Finding(
            "probabilities", "warning",
            headline(f"log_softmax at {at(soft.place)} is over the {examples} examples, not the {classes} classes",
                     f"log_softmax at {at(soft.place)} is over the examples, not the classes"),
            ("With dim=0, the probabilities of a class add up to 1 over the batch; those of an example do not.",
             f"nll_loss at {at(node.place)} reads a row of {classes} classes for each example."),
            "Pass dim=1 (or dim=-1) to log_softmax, or give the scores to cross_entropy.",
            soft.place, program.pass_after(soft.id), None, soft.id, program.tensor_of(soft),
            (("used", node.place),) if node.place is not None else (),
        )  # fmt: skip


def scores_for_logarithms(program: Program) -> Iterator[Finding]:
    """One finding for each place where nll_loss gets numbers above 0, which no logarithm of a probability is."""
    told = set()
    for node in program.doing("nll_loss", "nll_loss2d"):
        ref = next((one.ref for one in node.operands if one.ref is not None), None)
        most = _most(program.recording.tensors[ref.tensor].values.get(ref.version)) if ref is not None else 0.0
        if ref is None or not _ROUNDING < most < math.inf or node.place is None or node.place in told:
            continue
        if node.op == "cross_entropy" or squashed(program, node, 0) is not None:
            continue  # the logarithm is taken inside of the call, or probabilities_for_scores says it
        before = input_at(program, node, 0)
        if before is not None and program.does(before, "mul"):
            continue  # of logarithms and their weights, such as an advantage
        told.add(node.place)
        name, mistake = program.ref_name(ref), f"nll_loss at {at(node.place)} takes logarithms, but gets scores"
        yield Finding(
            "probabilities", "warning",
            headline(mistake if name.startswith("%") else f"{mistake}: {name}", mistake),
            (f"Its input goes up to {format_number(most)}. The logarithm of a probability is never above 0.",
             "nll_loss takes no logarithm itself: of scores, it computes minus their mean, which falls without end."),
            "Use log_softmax on the scores first, or give them to cross_entropy.",
            node.place, program.pass_after(node.id), None, node.id, program.tensor_of(node), (),
        )  # fmt: skip


def _most(value: Value | None) -> float:
    """The largest element; 0 if it is not known."""
    if isinstance(value, Summary):
        return float(value.max) if value.max is not None else 0.0
    return float(np.max(value, initial=-np.inf)) if isinstance(value, np.ndarray) and value.dtype.kind == "f" else 0.0


def _finding(program: Program, node: NodeRecord, soft: NodeRecord, what: str, which: str) -> Finding:
    name = next((program.operand_name(one) for one in node.operands if one.ref is not None), "%")
    name = program.name(soft.id) if name.startswith("%") or what == "kl_div" else name
    named = not name.startswith("%")
    short = what.replace("binary_cross_entropy_with_logits", "bce_with_logits")
    takes = "logarithms" if what in _TAKE_LOGARITHMS else "scores"
    mistake = f"{short} at {at(node.place)} takes {takes}, but gets probabilities"
    text = headline(f"{mistake}: {name}", mistake) if named else headline(mistake)
    source = f"{name if named else 'Its input'} is the result of {which} at {at(soft.place)}"
    if what == "kl_div":
        lines: tuple[str, ...] = (
            f"{source}. kl_div takes no logarithm of its input: it computes t · (ln t - input) for each target t.",
            "With probabilities, it is no distance, and is smallest where they are all at the largest target.",
        )
        remedy = "Use log_softmax instead of softmax for the input; the target stays probabilities."
    elif what == "nll_loss":
        lines = (
            f"{source}. nll_loss takes no logarithm itself: of probabilities, it computes minus their mean.",
            "Its gradient does not grow where the model is sure and wrong.",
        )
        remedy = "Use log_softmax instead of softmax, or give the scores to cross_entropy."
    else:
        lines = (f"{source}, and {what} applies {_own(what)} itself.", *_bound(program, node, what))
        remedy = f"Give {what} the scores, without {which}; apply {which} only where probabilities are read."
        if what == _CATEGORICAL:
            remedy = f"Pass probs={name if named else '...'} to Categorical, or logits= the scores, without {which}."
    place, other = node.place, (("made", soft.place),)
    if is_installed(node.place) and not is_installed(soft.place):  # of a trainer that calls the user's loss
        place, other = soft.place, (("used", node.place),)
    others = tuple((role, one) for role, one in other if one is not None and one != place)
    return Finding(
        "probabilities", "warning", text, lines, remedy, place, program.pass_after(node.id), None, node.id,
        program.tensor_of(node), others,
    )  # fmt: skip


def _own(what: str) -> str:
    return "sigmoid" if what == "binary_cross_entropy_with_logits" else "softmax"


def _bound(program: Program, node: NodeRecord, what: str) -> tuple[str, ...]:
    """How small the loss can become, for inputs between 0 and 1."""
    if what == "binary_cross_entropy_with_logits":
        one, zero = format_number(math.log1p(math.exp(-1))), format_number(math.log(2))
        return (f"So the loss of an element cannot fall below {one} where the target is 1, and {zero} where it is 0.",)
    shape = program.shape_of(node)
    if what != "cross_entropy" or not shape:
        return ()
    classes = shape[1] if len(shape) > 1 else shape[0]
    least = format_number(math.log1p((classes - 1) / math.e))
    return (f"Its inputs lie between 0 and 1, so of {classes} classes the loss cannot fall below {least}.",)
