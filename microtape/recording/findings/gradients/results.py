"""Gradients that stop at a result: .grad of what is no leaf."""

from __future__ import annotations

from collections.abc import Iterator

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program, named_before_grad
from microtape.recording.findings.wording import at, headline


def results_without(program: Program) -> Iterator[Finding]:
    """The result of an operation whose .grad the program misses: backward fills that of leaves only."""
    place = program.missing_gradient_at
    wanted = named_before_grad(program, place) if place is not None else ()
    if not wanted:
        return
    results = [one for one in program.recording.tensors if one.name in wanted and not one.is_leaf and one.grad is None]
    for position, pass_ in enumerate(program.recording.passes):
        for record in results:
            if record.node not in pass_.nodes:
                continue
            name, root = record.name, program.root_name(pass_)
            made = program.node(record.node).place
            yield Finding(
                "no gradient", "error",
                headline(f"{name}.grad is None: {name} is no leaf, and retain_grad() was not called",
                         f"{name}.grad is None: it is no leaf"),
                (f"{name} is the result of {program.node(record.node).op} at {at(made)}.",
                 f"Backward computes its gradient, but keeps only those of leaves. {at(place)} uses {name}.grad."),
                f"Call {name}.retain_grad() before backward, or ask for it: grad({root}, {name}).",
                made, position, None, record.node, record.id, (("used", place),) if place is not None else (),
            )  # fmt: skip
            return
