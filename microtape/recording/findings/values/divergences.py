"""kl_div that gets scores or probabilities where it takes logarithms, or its arguments in the wrong order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.remedies import Advice
from microtape.recording.findings.values.probabilities import divergences, squashed
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import BorderRecord, NodeRecord, Place, TensorRef
from microtape.recording.model.source import expression

if TYPE_CHECKING:
    import numpy.typing as npt

    Array: TypeAlias = npt.NDArray[Any]

_ROUNDING = 0.01  # above 0, of logarithms in low precision; of a sum that should be 1


class _Call(NamedTuple):
    """A kl_div, by the node that multiplies a target."""

    node: NodeRecord
    input: TensorRef
    target: TensorRef
    log_target: bool


def scores_for_divergences(program: Program) -> Iterator[Finding]:
    """One finding for each place where kl_div compares probabilities with numbers above 0, which are no logarithms."""
    told = set[Place]()
    for call in _calls(program):
        node = call.node
        if node.place is None or node.place in told or (not call.log_target and squashed(program, node, 1) is not None):
            continue  # which probabilities_for_scores says
        given, target = program.recording.value(call.input), program.recording.value(call.target)
        if not isinstance(given, np.ndarray) or not isinstance(target, np.ndarray) or not given.size:
            continue
        if not _ROUNDING < given.max() < np.inf:
            continue
        if not _are_probabilities(np.exp(target) if call.log_target else target):
            continue
        told.add(node.place)
        of_softmax = _are_probabilities(given)
        what, name = "probabilities" if of_softmax else "scores", program.ref_name(call.input)
        mistake = f"kl_div at {at(node.place)} takes logarithms, but gets {what}"
        lines = (
            f"Its first argument goes up to {format_number(given.max())}. The logarithm of a probability is never "
            "above 0.",
            "kl_div computes no softmax and takes no logarithm of it: such a loss can fall below 0, without end."
            if not of_softmax else "kl_div takes no logarithm of it, so the loss is no distance of the two.",
        )  # fmt: skip
        remedy = f"Give it {'log_softmax of the scores' if of_softmax else 'their log_softmax'} first, then the target."
        if of_softmax and call.log_target:
            remedy = f"Swap them, if the order is the mistake: {_swapped(program, call)}. Else, take log_softmax first."
        yield Finding(
            "probabilities", "warning",
            headline(f"{mistake}: {name}" if not name.startswith("%") else mistake, mistake),
            lines, remedy, node.place, program.pass_after(node.id), None, node.id, program.tensor_of(node),
        )  # fmt: skip


def swapped_arguments(program: Program, made: NodeRecord | BorderRecord) -> Advice | None:
    """Advice for a kl_div that is NaN, since probabilities stand first, and what it takes their logarithm of is one."""
    if not program.does_op(made, "kl_div", "xlogy"):
        return None
    call = next((one for one in _calls(program) if one.node.place == made.place and not one.log_target), None)
    given = program.recording.value(call.input) if call is not None else None
    target = program.recording.value(call.target) if call is not None else None
    if call is None or not isinstance(given, np.ndarray) or not isinstance(target, np.ndarray) or not target.size:
        return None
    if target.max() > _ROUNDING or not _are_probabilities(given) or not _are_probabilities(np.exp(target)):
        return None
    return Advice(
        "swapped arguments",
        ("kl_div takes logarithms first, then the target. Here the first argument holds probabilities, whose sum is 1, "
         "and the second one logarithms.",),
        f"Swap them: {_swapped(program, call)}.",
    )  # fmt: skip


def _swapped(program: Program, call: _Call) -> str:
    return f"kl_div({program.ref_name(call.target)}, {program.ref_name(call.input)}, ...)"


def _calls(program: Program) -> Iterator[_Call]:
    for node in divergences(program):
        if len(refs := operand_refs(node)) == 2:
            yield _Call(node, refs[1], refs[0], log_target=False)
    text = "".join(program.recording.sources.values())
    for node in program.doing("sub") if "log_target" in text else ():
        users = [program.node(one) for one in program.users(node.id)]
        written, refs = expression(program.recording, node.place), operand_refs(node)
        if len(users) != 1 or len(refs) != 2 or not program.does(users[0], "mul") or users[0].place != node.place:
            continue
        if users[0].edges[-1].node == node.id and written.endswith(")") and " - " not in written:
            yield _Call(node, refs[1], refs[0], log_target=True)


def _are_probabilities(value: Array) -> bool:
    """Whether numbers from 0 to 1 add up to 1 along the last dimension, the second one, or the first of one."""
    if value.dtype.kind != "f" or not value.ndim or not ((value >= 0) & (value <= 1 + _ROUNDING)).all():
        return False
    if value.shape[-1] < 2:
        return False
    along = {value.ndim - 1, min(1, value.ndim - 1)}
    return any(np.allclose(value.sum(axis=one, dtype=np.float64), 1, atol=_ROUNDING) for one in along)
