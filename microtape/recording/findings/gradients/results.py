"""Gradients that stop at a result: a term of a loss that is a constant, and .grad of what is no leaf."""

from __future__ import annotations

from collections.abc import Iterator

from microtape.recording.findings.cuts import is_gradient, reason_of, remedy_for
from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program, named_before_grad, operand_refs
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.cut_history import way_back


def constant_penalties(program: Program) -> Iterator[Finding]:
    """A number that is added to a loss, and that came out of a gradient without `create_graph`.

    A gradient of the shape of its input may be meant as a constant, as for an adversarial example, and so may a factor.
    """
    if not any(map(is_gradient, program.recording.borders)):
        return
    for position, pass_ in enumerate(program.recording.passes):
        if pass_.kind != "backward":
            continue
        for node in map(program.node, sorted(pass_.nodes)):
            for ref in operand_refs(node) if program.does(node, "add", "sub", "rsub") else ():
                last = program.borders.get(ref)
                if last is None or program.recording.tensors[ref.tensor].shape:
                    continue
                border = next((one for one in way_back(last, program.borders) if is_gradient(one)), None)
                if border is None:
                    continue
                root, where = program.root_name(pass_), at(border.place)
                yield Finding(
                    "no gradient", "warning",
                    headline(f"A term of {root} is a constant: grad at {where} has no create_graph",
                             f"A term of {root} is a constant: grad without create_graph"),
                    (f"grad at {where} {reason_of(border)}.",
                     f"{program.ref_name(ref)}, made of it and used at {at(node.place)}, changes no gradient."),
                    remedy_for(border, ""), border.place, position, None, node.id, ref.tensor,
                    (("used", node.place),) if node.place is not None else (),
                )  # fmt: skip
                return


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
