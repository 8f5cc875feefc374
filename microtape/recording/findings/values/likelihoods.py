"""Likelihoods that take a logarithm or a variance, and are given a rate, or a variance that is 0."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.histories import inputs, maker_at
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.wording import at, count, headline
from microtape.recording.model.model import NodeRecord, Place, TensorRef

_MOST_CALLS = 8  # of one line that are looked at
_FEWEST_ZEROS = 0.01  # of all variances, and two at least: a single one may be by chance
_POSITIVE = ("exp", "softplus", "relu")


def rates_for_logarithms(program: Program) -> Iterator[Finding]:
    """One finding for each place where poisson_nll_loss takes for a logarithm what was made positive: a rate."""
    told = set[Place]()
    for node in program.doing("poisson_nll_loss"):
        if node.place is None or node.place in told:
            continue
        told.add(node.place)
        exponential = next((one for one in _inside(program, node) if program.does(one, "exp")), None)
        rate = maker_at(program, exponential, 0) if exponential is not None else None
        if exponential is None or rate is None or not program.does(rate, *_POSITIVE):
            continue
        how = next(one for one in _POSITIVE if program.does(rate, one))
        name = program.name(rate.id)
        mistake = f"poisson_nll_loss at {at(node.place)} takes logarithms of rates, but gets rates"
        made = rate.place if rate.place != node.place else None
        yield Finding(
            "probabilities", "notice" if how == "relu" else "warning",
            headline(f"{mistake}: {name}" if not name.startswith("%") else mistake, mistake),
            (f"Its input is the result of {how} at {at(rate.place)}: it cannot be below 0.",
             "The loss takes exp of it: no rate can be below 1, and what the program reads as a rate is a logarithm."),
            f"Pass log_input=False (to PoissonNLLLoss, too), or give it what {how} gets.",
            node.place, program.pass_after(node.id), None, node.id, program.tensor_of(node),
            (("made", made),) if made is not None else (),
        )  # fmt: skip


def _inside(program: Program, node: NodeRecord) -> Iterator[NodeRecord]:
    """The nodes of the same call that lead to a node."""
    waiting = [node]
    while waiting:
        for one in inputs(program, waiting.pop()):
            if one.place == node.place and one.op != node.op:
                yield one
                waiting.append(one)


def variances_of_zero(program: Program) -> Iterator[Finding]:
    """One finding for each place where gaussian_nll_loss gets variances from relu, of which some are 0."""
    calls: dict[Place, list[NodeRecord]] = {}
    for node in program.doing("gaussian_nll_loss"):
        if node.place is not None:
            calls.setdefault(node.place, []).append(node)
    for place, nodes in calls.items():
        for node in nodes[:_MOST_CALLS]:
            copy = next((one for one in _inside(program, node) if program.does(one, "clone")), None)
            relu = maker_at(program, copy, 0) if copy is not None else None
            ref = next(iter(operand_refs(copy)), None) if copy is not None else None
            if relu is None or ref is None or not program.does(relu, "relu"):
                continue
            zeros, every = _zeros(program, ref)
            if zeros >= max(2, _FEWEST_ZEROS * every):
                yield _of_zero(program, node, place, relu, ref, zeros, every)
                break


def _zeros(program: Program, ref: TensorRef) -> tuple[int, int]:
    """How many elements are 0, of how many."""
    value = program.recording.value(ref)
    return (int((value == 0).sum()), value.size) if isinstance(value, np.ndarray) else (0, 0)


def _of_zero(
    program: Program, node: NodeRecord, place: Place, relu: NodeRecord, ref: TensorRef, zeros: int, every: int
) -> Finding:
    name = program.ref_name(ref)
    named = name if not name.startswith(("%", "a tensor")) else "the variances"
    mistake = f"{zeros:,} of the {count(every, 'variance')} of gaussian_nll_loss at {at(place)} are 0"
    return Finding(
        "probabilities", "warning",
        headline(f"{mistake}: {name}" if named == name else mistake, mistake),
        (f"relu at {at(relu.place)} has cut {named} off at 0. Instead of 0, the loss divides the squared error by eps "
         "(1e-6 if nothing else is said).",
         "Nor can such a variance grow again: where its result is 0, relu passes no gradient back."),
        "Make it positive: softplus(x) + 1e-3 instead of relu(x), or exp(x) of a logarithm.",
        relu.place or place, program.pass_after(node.id), None, node.id, program.tensor_of(node),
        (("used", place),) if relu.place not in (None, place) else (),
    )  # fmt: skip
