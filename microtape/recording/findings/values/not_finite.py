"""NaN and infinity: the operations whose input is finite and whose result, or gradient, is not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from microtape.recording.findings.finding import Finding, FindingKind
from microtape.recording.findings.histories import inputs
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.remedies import Advice, against_not_finite
from microtape.recording.findings.values.bad_numbers import (
    first_bad,
    how_in_backward,
    how_in_forward,
    how_of_leaf,
    how_of_nothing,
)
from microtape.recording.findings.values.divergences import swapped_arguments
from microtape.recording.findings.values.origins import Origin, PassSearch, label_smoothing, origins_by_line
from microtape.recording.findings.values.rounded_away import rounded_away
from microtape.recording.findings.values.stable_forms import stable_form
from microtape.recording.findings.values.without_history import how_of_input, how_without_history
from microtape.recording.findings.wording import at, count, headline, join
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import BorderRecord, NodeRecord, Place, Recording, Value

_NODES_OF_A_LOSS = 12
_DIMENSION = re.compile(r"(?:dim=)?(-?\d+)")  # as an argument


def not_finite(program: Program) -> Iterator[Finding]:
    """One finding for each line where NaN or infinity begins, if it reached the loss or a leaf's gradient.

    Only the first pass with one is searched: what follows it is its consequence.
    """
    for search, origins in origins_by_line(program):
        yield _finding(program, search, origins)


def arrays_where_bad_numbers_begin(recording: Recording) -> Iterator[Value | None]:
    """What went into each operation in which NaN or infinity begins, and what came out; or its gradients.

    Recordings keep these arrays whole, so that findings can name the numbers.
    """
    for _, origins in origins_by_line(Program(recording)):
        node, step, source = recording.nodes[origins[0].node], origins[0].step, origins[0].source
        refs = [*operand_refs(node), *(ref for ref in node.outputs if ref is not None)]
        if source is not None:
            refs += [source.ref, *(operand_refs(source.maker) if source.maker is not None else ())]
        yield from map(recording.value, refs)
        if step is not None:
            yield from step.grad_outputs
            yield from [one.term for one in step.deliveries]


def _finding(program: Program, search: PassSearch, origins: Sequence[Origin]) -> Finding:
    """What origins at one line come to."""
    origin, made = origins[0], search.made(origins[0])
    if origin.step is None and origin.source is None and not search.is_certain(program.node(origin.node)):
        return _at_or_before(program, search, origin)
    node = program.node(origin.node)
    tensor = program.tensor_of(node)
    spread = sorted({one for each in origins for one in each.spread})
    value = _first_bad(search, origin)
    kind, what = _kind(program, value)
    how, lines = how_of_leaf(program, node) if node.variable is not None else _how(search, origin, node, value)
    where = f"{made.op}, {at(made.place)}" if made.place is not None else program.name(node.id)
    side = "" if origin.step is None else " in backward"
    advice = _advice(program, origin, made, how) if origin.source is None or made is not node else None
    if advice is not None:
        how, lines = advice.said or how, [*lines, *advice.lines]
    of_data = origin.source is not None and made is node
    text = headline(
        *([f"{what} begins{side} at {where}: {how}"] if how else []),
        *([f"{what} begins at {where}: {how}"] if how else []),
        *([f"{what} begins at {where}: its input is not finite"] if of_data else []),
        f"{what} begins{side} at {where}",
    )
    leaves = [program.name(one) for one in spread if one in search.bad_leaves]
    reached = f"From there {count(len(spread), 'node')} {'is' if len(spread) == 1 else 'are'} not finite"
    lines.append(f"{reached}; it reaches the gradients of {join(leaves)}." if leaves else f"{reached}.")
    if len(origins) > 1:
        lines.append(f"The same happens {count(len(origins) - 1, 'more time')} at this line.")
    lines += _before(program, search.pass_.index, kind)
    return Finding(
        kind, "error", text, tuple(lines),
        advice.remedy if advice is not None else
        against_not_finite(made, in_backward=origin.step is not None, how=how, is_nan=kind == "nan",
                           later=bool(search.pass_.index), of_data=of_data, along=_along(program, made),
                           dtype=program.recording.tensors[tensor].dtype if tensor is not None else ""),
        made.place or _first_use(program, node.id), origin.position,
        origin.step.index if origin.step is not None else None, node.id, tensor,
        spread=tuple(spread),
    )  # fmt: skip


def _at_or_before(program: Program, search: PassSearch, origin: Origin) -> Finding:
    """The finding where it is unknown whether what made a number that is not finite was given such numbers."""
    node = program.node(origin.node)
    kind, what = _kind(program, _first_bad(search, origin))
    name = program.name(node.id)
    where = f"{node.op}, {at(node.place)}" if node.place is not None else name
    if search.is_unreadable(node):
        why = "is in tensors that cannot be read"
        remedy = "Look at the data and the parameters that go into it: only their own class knows their elements."
    else:
        why = "is not in the recording, which began later"
        remedy = (
            "Record the lines that compute it, too: put them into `with microtape.record() as r:`, before backward."
        )
    return Finding(
        kind, "error", headline(f"{what} begins at or before {where}"),
        (f"{name} is not finite. What it was computed of {why}.",), remedy,
        node.place or _first_use(program, node.id), origin.position, None, node.id, program.tensor_of(node),
        spread=origin.spread,
    )  # fmt: skip


def _before(program: Program, index: int, kind: FindingKind) -> Iterator[str]:
    """A sentence about the passes before one, as far as they were looked at."""
    if index and program.recording.passes[0].index == 0:
        yield f"Everything is finite before pass {index + 1} of the program."
    elif index and kind == "nan" and program.recording.options.get("until") == "nan":
        yield f"There is no NaN before pass {index + 1} of the program."


def _kind(program: Program, value: Value | None) -> tuple[FindingKind, str]:
    """The kind of a finding about a value, and its word for it."""
    return ("nan", "NaN") if np.isnan(program.sizes.largest(value)) else ("infinity", "Infinity")


def _advice(program: Program, origin: Origin, made: NodeRecord | BorderRecord, how: str) -> Advice | None:
    """What the operations around the culprit tell."""
    if isinstance(made, NodeRecord) and (made.variable is not None or made.kind == "function"):
        return None
    if (advice := _of_hidden_classes(program, made)) is not None:
        return advice
    if (advice := swapped_arguments(program, made)) is not None:
        return advice
    if (advice := rounded_away(program, made)) is not None or not isinstance(made, NodeRecord):
        return advice
    return stable_form(program, made, in_backward=origin.step is not None, how=how)


def _of_hidden_classes(program: Program, made: NodeRecord | BorderRecord) -> Advice | None:
    """Advice for a loss that reads scores of -inf, which the program has put there."""
    smoothing = label_smoothing(made)
    if not smoothing and not program.does_op(made, "nll_loss", "cross_entropy"):
        return None
    if not isinstance(made, NodeRecord) or not _infinite_scores(program, made):
        return None
    if smoothing:
        return Advice(
            "label_smoothing meets -inf",
            (f"{smoothing} gives each class a share of the target; where the score is -inf, its loss is inf.",),
            "Leave label_smoothing out where classes are masked, or share it among the other classes yourself.",
        )
    return Advice(
        "a target's score is -inf",
        ("The loss of an example is inf if the score of its own class is -inf: its probability is 0.",),
        "Do not mask the class of the target: look at the mask, and at the targets. Leave such examples out.",
    )


def _infinite_scores(program: Program, loss: NodeRecord) -> bool:
    """Whether a -inf that was put there is among the scores of a loss, a few nodes before it."""
    waiting = [loss]
    for one in waiting:  # it grows on the way
        if program.does(one, "log_softmax"):
            known = [*map(program.recording.value, operand_refs(one)), *program.results(one)]
            return any(isinstance(value, np.ndarray) and bool((value == -np.inf).any()) for value in known)
        waiting += inputs(program, one)[: max(0, _NODES_OF_A_LOSS - len(waiting))]
    return False


def _along(program: Program, made: NodeRecord | BorderRecord) -> str:
    """The dimension of a softmax that meets only -inf, while each row, along the last one, has a finite score."""
    ref = next((one.ref for one in made.operands if one.ref is not None), None)
    value = program.recording.tensors[ref.tensor].values.get(ref.version) if ref is not None else None
    asked = [found[1] for one in made.operands if (found := _DIMENSION.fullmatch(one.text))]
    if "softmax" not in made.op or not asked or not isinstance(value, np.ndarray) or not value.ndim:
        return ""
    is_last = int(asked[0]) % value.ndim == value.ndim - 1
    return "" if is_last or (value == -np.inf).all(axis=-1).any() else f"dim={asked[0]}"


def _first_use(program: Program, node: int) -> Place | None:
    users = [one for one in program.users(node) if program.node(one).place is not None]
    return program.node(users[0]).place if users else None


def _first_bad(search: PassSearch, origin: Origin) -> Value | None:
    """The first value, or gradient, at an origin that is not finite."""
    recording, node = search.recording, search.recording.nodes[origin.node]
    if origin.source is not None:
        return recording.value(origin.source.ref)
    if origin.step is not None:
        sent = [one.term for one in origin.step.deliveries]
        return next(value for value in (*sent, *origin.step.grad_inputs) if search.is_bad(value))
    values: list[Value | None] = [recording.value(ref) for ref in node.outputs if ref is not None]
    if node.variable is not None:
        values = list(recording.tensors[node.variable].values.values())
    return next((value for value in values if search.is_bad(value)), None)


def _how(search: PassSearch, origin: Origin, node: NodeRecord, value: Value | None) -> tuple[str, list[str]]:
    """How finite numbers gave one that is not: for a headline, and as sentences."""
    program = search.program
    if (source := origin.source) is not None:
        if not isinstance(source.maker, BorderRecord) or not source.is_certain:
            return how_of_input(program, source.ref)
        used = f"It was computed without history, and enters the graph at {node.op}, {at(node.place)}."
        return "", [*how_without_history(program, source.ref, source.maker), used]
    if origin.step is None and (nothing := how_of_nothing(program, node, value)) is not None:
        return nothing
    if not isinstance(value, np.ndarray):
        return "", []
    if origin.step is None:
        return how_in_forward(program, node, value)
    formula, lines = how_in_backward(program, origin.step, value)
    return formula, [*lines, *_in_forward_too(search, origin.step.node)]


def _in_forward_too(search: PassSearch, number: int) -> list[str]:
    """A sentence for a gradient whose value was not finite before."""
    begin = search.program.node(search.masked(number))
    value = next((search.recording.value(ref) for ref in begin.outputs if ref is not None), None)
    if begin.id not in search.bad_values or not isinstance(value, np.ndarray):
        return []
    text = format_number(value[first_bad(value)])
    return [f"In forward, {search.program.name(begin.id)} gave {text}, which the loss does not use."]
