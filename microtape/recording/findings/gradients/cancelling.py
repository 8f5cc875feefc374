"""A loss that does not depend on any leaf, because the gradients that come together are each other's opposite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.gradients.zeros import zero_by_pass
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline, join
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import BackwardStep


def cancelling_gradients(program: Program) -> Iterator[Finding]:
    """A finding if no leaf ever gets more than zeros, since what two operations send on the way to them cancels.

    Such as a ratio of probabilities, both of which the policy has computed with a history.
    """
    seen = zero_by_pass(program)
    if not seen or not all(is_zero for passes in seen.values() for is_zero in passes.values()):
        return
    position = min(min(passes) for passes in seen.values())
    leaves = [leaf for leaf, passes in seen.items() if position in passes]
    cancelled = _cancelled(program, position, leaves)
    if cancelled:
        first = min(cancelled, key=lambda node: program.steps[position][node].index)
        is_again = any(len(passes) > 1 for passes in seen.values())
        yield _finding(program, position, first, cancelled[first], leaves, is_again=is_again)


def _cancelled(program: Program, position: int, leaves: Sequence[int]) -> Mapping[int, list[BackwardStep]]:
    """The nodes on the way to these leaves that several steps have sent more than zeros, whose sum is zero."""
    largest = program.sizes.largest
    wanted, senders = set(leaves), dict[int, list[BackwardStep]]()
    for step in reversed(program.recording.passes[position].steps):
        terms = [(one.node, one.term) for one in step.deliveries if one.node in wanted and one.term is not None]
        for node in {node for node, term in terms if largest(term) > 0}:
            senders.setdefault(node, []).append(step)
        if terms and not any(largest(one) > 0 for one in step.grad_outputs):
            wanted.add(step.node)
    return {node: steps for node, steps in senders.items() if len(steps) > 1}


def _finding(
    program: Program, position: int, node: int, senders: Sequence[BackwardStep], leaves: Sequence[int], *,
    is_again: bool,
) -> Finding:  # fmt: skip
    places = sorted({place for one in senders if (place := program.node(one.node).place) is not None})
    wheres = " and ".join([at(one) for one in places[:1]] + [one.at_line for one in places[-1:] if len(places) > 1])
    root = program.root_name(program.recording.passes[position])
    text = headline(
        f"{root} depends on no leaf: the gradients from {wheres} cancel",
        f"The loss depends on no leaf: the gradients from {wheres} cancel",
    )
    sizes = [program.sizes.largest(one.term) for step in senders for one in step.deliveries if one.node == node]
    lines = (
        f"{program.name(node)} gets gradients of up to {format_number(max(sizes), 3)} from there, whose sum is zero.",
        f"So nothing but zeros reaches {join([program.name(one) for one in leaves])}.",
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
