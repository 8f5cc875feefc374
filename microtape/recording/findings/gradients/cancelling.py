"""A loss that does not depend on any leaf, because the gradients that come together are each other's opposite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.gradients.zeros import origins_of_zeros, zero_by_pass
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, count, headline, join
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import BackwardStep


def cancelling_gradients(program: Program) -> Iterator[Finding]:
    """A finding if leaves never get more than zeros, since what two operations send on the way to them cancels.

    Such as a ratio of probabilities, both of which the policy has computed with a history.
    """
    seen = zero_by_pass(program)
    zero = [leaf for leaf, passes in seen.items() if all(passes.values())]
    if not zero:
        return
    position = min(min(seen[leaf]) for leaf in zero)
    leaves = [leaf for leaf in zero if position in seen[leaf]]
    cancelled = _cancelled(program, position, leaves)
    if cancelled and len(zero) < len(seen):
        known = origins_of_zeros(program, position, leaves)
        leaves = [leaf for leaf in leaves if not known.get(leaf)]
        cancelled = _cancelled(program, position, leaves)
    if cancelled:
        first = min(cancelled, key=lambda node: program.steps[position][node].index)
        is_again = any(len(seen[leaf]) > 1 for leaf in leaves) and (len(leaves) > 1 or len(zero) == len(seen))
        is_all = len(zero) == len(seen)
        yield _finding(program, position, first, cancelled[first], leaves, is_all=is_all, is_again=is_again)


def _cancelled(program: Program, position: int, leaves: Sequence[int]) -> Mapping[int, list[BackwardStep]]:
    """The nodes on the way to these leaves that several steps have sent more than zeros, whose sum is zero."""
    largest = program.sizes.largest
    wanted, senders = set(leaves), dict[int, list[BackwardStep]]()
    for step in reversed(program.recording.passes[position].steps):
        terms = [(one.node, one.term) for one in step.deliveries if one.node in wanted and one.term is not None]
        for node in {node for node, term in terms if largest(term) > 0}:
            senders.setdefault(node, []).append(step)
        if terms and all(map(program.sizes.is_zero, step.grad_outputs)):
            wanted.add(step.node)
    return {node: steps for node, steps in senders.items() if len(steps) > 1}


def _finding(
    program: Program, position: int, node: int, senders: Sequence[BackwardStep], leaves: Sequence[int], *,
    is_all: bool, is_again: bool,
) -> Finding:  # fmt: skip
    places = sorted({place for one in senders if (place := program.node(one.node).place) is not None})
    further = [one.at_line for one in places[-1:] if places[0][:2] != one[:2]]
    wheres = " and ".join([at(one) for one in places[:1]] + further)
    root, names = program.root_name(program.recording.passes[position]), [program.name(one) for one in leaves]
    text = headline(
        f"{root} depends on no leaf: the gradients from {wheres} cancel",
        f"The loss depends on no leaf: the gradients from {wheres} cancel",
    ) if is_all else headline(
        f"The gradient of {join(names, 3)} is zero: those from {wheres} cancel",
        f"{root} does not depend on {join(names, 2)}: gradients from {wheres} cancel",
        *[f"{one} gets only zeros: gradients from {wheres} cancel" for one in names if len(names) == 1],
        f"The gradient of {count(len(names), 'parameter')} is zero: those from {wheres} cancel",
        f"The gradient of {count(len(names), 'parameter')} is zero: two others cancel",
    )  # fmt: skip
    sizes = [program.sizes.largest(one.term) for step in senders for one in step.deliveries if one.node == node]
    lines = (
        f"{program.name(node)} gets gradients of up to {format_number(max(sizes), 3)} from there, whose sum is zero.",
        f"So nothing but zeros reaches {join(names, 6)}.",
    )
    first = program.node(min(one.node for one in senders))  # that was computed
    what = program.expression(first.place) or first.op
    which = f"{what} at {at(first.place)}" if len(places) > 1 else f"one of the results of {what}"
    remedy = f"If {which} is meant as a constant, compute it under no_grad(), or .detach() it."
    return Finding(
        "zero gradient", "warning" if is_again else "notice", text, lines, remedy, first.place, position,
        program.steps[position][node].index, node, program.tensor_of(program.node(node)),
        tuple(("used", one) for one in places if one != first.place),
    )  # fmt: skip
