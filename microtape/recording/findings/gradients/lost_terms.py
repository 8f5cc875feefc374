"""Terms of a loss that were computed from what it trains, and have lost their history on the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from microtape.recording.findings.cuts import cut_of, is_gradient, reason_of, remedy_for
from microtape.recording.findings.finding import Finding, Severity
from microtape.recording.findings.gradients.constant_terms import sums_of
from microtape.recording.findings.gradients.zeros import DRAWN, ROUNDED
from microtape.recording.findings.histories import history
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.quiet_blocks import quiet_block
from microtape.recording.findings.wording import at, headline, join
from microtape.recording.model.cut_history import first_from_tape, way_back
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import BorderRecord, NodeRecord, Pass, Place, TensorRef
from microtape.recording.model.source import expression
from microtape.recording.model.undifferentiable import is_comparison

_MOST_TERMS = 8  # of a pass, that are followed back
_MOST_CUTS = 4  # of a term, whose operands are followed back to leaves


class _Lost(NamedTuple):
    """A term that is a constant, and where it became one."""

    sum: NodeRecord
    term: TensorRef
    at: BorderRecord | NodeRecord
    leaves: tuple[str, ...]  # that it was computed from, and that the pass reaches by another way
    severity: Severity

    @property
    def lines(self) -> tuple[Place | None, Place | None]:
        """The lines that tell one such term from another."""
        return self.sum.place, self.at.place


def lost_terms(program: Program) -> Iterator[Finding]:
    """A term of a loss that was computed from what the loss trains, and is a constant all the same, pass after pass.

    It has no derivative, such as a score of predictions that were compared with 0.5, or its parameters were detached.
    """
    if not (program.recording.borders or program.doing(*ROUNDED)):
        return
    by_line: dict[Place | None, list[int]] = {}
    for position, pass_ in enumerate(program.recording.passes):
        if pass_.kind == "backward" and pass_.is_complete:
            by_line.setdefault(pass_.place, []).append(position)
    for positions in by_line.values():
        found = list(_lost_in(program, positions[0]))
        if found and len(positions) > 1:  # what is a constant at first only, as in a warm-up, is meant
            still = {one.lines for one in _lost_in(program, positions[-1])}
            found = [one for one in found if one.lines in still]
        yield from (_finding(program, positions[0], one) for one in _joined(found))


def _joined(found: Sequence[_Lost]) -> Sequence[_Lost]:
    """One for each line that makes constants of terms, with the leaves of all of them."""
    by_line: dict[Place | None, _Lost] = {}
    for one in found:
        before = by_line.get(one.at.place)
        leaves = (*before.leaves, *one.leaves) if before is not None else one.leaves
        by_line[one.at.place] = (before or one)._replace(leaves=tuple(dict.fromkeys(leaves)))
    return list(by_line.values())


def _lost_in(program: Program, position: int) -> Iterator[_Lost]:
    pass_ = program.recording.passes[position]
    sums = [one for one in sums_of(program, pass_) if _is_number(program, one.outputs[0])]
    constants = [(one, ref) for one in sums for ref in operand_refs(one) if ref in program.borders]
    constants = [(one, ref) for one, ref in constants if _is_number(program, ref)]
    if any(_is_bare_number(program, program.borders[ref]) for _, ref in constants):
        return  # such as in x + (y - x).detach(), which has the value of y and the gradient of x
    since = program.recording.passes[position - 1].tape if position > 0 else 0
    for node, ref in islice(constants, _MOST_TERMS):
        if (found := _off_the_tape(program, pass_, node, ref, since)) is not None:
            yield found
    yield from _rounded(program, position, sums)


def _is_number(program: Program, ref: TensorRef | None) -> bool:
    return ref is not None and set(program.recording.tensors[ref.tensor].shape) <= {1}


def _is_bare_number(program: Program, border: BorderRecord) -> bool:
    """Whether a single number was taken off the tape by name, or any with its value: to want only that may be meant."""
    return any(
        one.kind == "detach" and all(_is_number(program, ref) for ref in operand_refs(one))
        for one in way_back(border, program.borders)
    )


def _off_the_tape(program: Program, pass_: Pass, node: NodeRecord, ref: TensorRef, since: int) -> _Lost | None:
    """Where a term has left the tape, if it was computed from what this pass trains."""
    way = way_back(program.borders[ref], program.borders)
    if any(_is_support(program, one) for one in way):
        return None
    cuts = [one for one in way if one.kind != "constant"]
    if any(is_gradient(one) or one.in_place or _is_drawn(program, one) for one in cuts):
        return None  # told by another finding; a mean over time; what is drawn is scored by another term
    has_no_derivative = all(one.kind == "not differentiable" for one in cuts)
    if not has_no_derivative and not program.does(node, "add"):
        return None  # a baseline that is subtracted
    operands = [one for cut in cuts[:_MOST_CUTS] for one in operand_refs(cut)]
    if any(_was_known_before(program, pass_, one, since) for cut in cuts for one in _copied(cut)):
        return None
    leaves = _leaves_behind(program, pass_, operands)
    if not leaves:
        return None  # of the data alone, or of what other passes train
    is_bare = all(one.kind in ("not differentiable", "copied") for one in cuts)
    is_of_parameters = all(_is_parameter(program, one) for cut in cuts for one in operand_refs(cut))
    is_of_parameters = is_of_parameters and not any(_may_run_on_the_tape(program, one) for one in cuts)
    cut = first_from_tape(cuts, program.producer.keys()) or cuts[0]
    return _Lost(node, ref, cut, leaves, "warning" if is_bare or is_of_parameters else "notice")


def _is_support(program: Program, border: BorderRecord) -> bool:
    """Whether this is ln of a comparison, which densities have as a term: 0 where they are, -inf where they are not."""
    if border.kind != "constant" or border.op != "log":
        return False
    values = [program.recording.value(ref) for ref in border.outputs]
    return all(isinstance(one, np.ndarray) and bool(np.isin(one, (0, -np.inf)).all()) for one in values)


def _is_drawn(program: Program, border: BorderRecord) -> bool:
    return border.op in (*DRAWN, "multinomial") or ".sample(" in expression(program.recording, border.place)


def _may_run_on_the_tape(program: Program, border: BorderRecord) -> bool:
    """Whether it depends on a condition: `with set_grad_enabled(epoch > 5)`, as in a warm-up."""
    block = quiet_block(program, border)
    return block is not None and "set_grad_enabled" in expression(program.recording, block)


def _copied(border: BorderRecord) -> Sequence[TensorRef]:
    return operand_refs(border) if border.kind == "copied" else ()


def _was_known_before(program: Program, pass_: Pass, ref: TensorRef, since: int) -> bool:
    """Whether this was computed for an earlier pass, or is part of this one's loss in any case."""
    number = program.producer.get(ref)
    return number is not None and (number < since or number in pass_.nodes)


def _is_parameter(program: Program, ref: TensorRef) -> bool:
    tensor = program.recording.tensors[ref.tensor]
    return tensor.is_leaf and tensor.requires_grad


def _leaves_behind(program: Program, pass_: Pass, refs: Sequence[TensorRef]) -> tuple[str, ...]:
    """The names of the leaves that these were computed from, if the pass gives them a gradient."""
    numbers = [program.producer.get(ref, program.recording.tensors[ref.tensor].node) for ref in refs]
    behind = {one for number in numbers if number is not None for one in history(program, program.node(number))}
    return tuple(program.name(one) for one in sorted(behind.intersection(pass_.nodes)) if program.is_leaf[one])


def _rounded(program: Program, position: int, sums: Sequence[NodeRecord]) -> Iterator[_Lost]:
    """The terms that no leaf is behind, except behind an operation such as round, whose derivative is 0 everywhere."""
    pass_ = program.recording.passes[position]
    nodes = [program.node(one) for one in sorted(pass_.nodes)]
    flat = {one.id for one in nodes if one.kind != "function" and program.does(one, *ROUNDED)}
    if not flat or not sums:
        return
    alive: set[int] = set()  # a leaf is behind them
    for one in nodes:
        if one.variable is not None or (one.id not in flat and any(edge.node in alive for edge in one.edges)):
            alive.add(one.id)
    for node in sums:
        for number in [edge.node for edge in node.edges if edge.node is not None]:
            term = program.node(number).outputs[0] if number not in alive else None
            if term is None or not (blamed := flat & history(program, program.node(number))):
                continue
            behind = history(program, program.node(max(blamed)))
            leaves = tuple(program.name(one) for one in sorted(behind) if _has_gradient(program, position, one))
            if leaves:  # else it is another finding that their gradient is zero
                yield _Lost(node, term, program.node(max(blamed)), leaves, "warning")
                return


def _has_gradient(program: Program, position: int, node: int) -> bool:
    """Whether this is a leaf that the pass gives more than zeros."""
    step = program.steps[position].get(node) if program.is_leaf[node] else None
    return step is not None and any(program.sizes.largest(one) > 0 for one in step.grad_outputs)


def _finding(program: Program, position: int, lost: _Lost) -> Finding:
    pass_, cut, node = program.recording.passes[position], lost.at, lost.sum
    root, where, op = program.root_name(pass_), at(cut.place), cut.op.rstrip("_")
    what, term = program.expression(cut.place) or op, program.ref_name(lost.term)
    term = "the term" if term.startswith("a tensor (") else term
    why, short, reason = _why(program, cut)
    value = program.recording.value(lost.term)
    number = (
        f" ({format_number(value.item())} in {program.pass_name(position)})" if isinstance(value, np.ndarray) else ""
    )
    return Finding(
        "no gradient", lost.severity,
        headline(f"A term of {root} is a constant: {why}", f"A term of {root} is a constant: {short} at {where}",
                 f"A term of {root} is a constant ({where})", f"A term of the loss is a constant ({where})"),
        (f"{what} at {where} {reason}.",
         f"So {term}{number}, which {at(node.place)} adds, changes no gradient: "
         f"{join(lost.leaves)} learn{'s' if len(lost.leaves) == 1 else ''} from the other terms only."),
        _remedy(program, cut), cut.place or pass_.place, position, None, node.id, lost.term.tensor,
        (("used", node.place),) if node.place is not None else (),
    )  # fmt: skip


def _why(program: Program, cut: BorderRecord | NodeRecord) -> tuple[str, str, str]:
    """Why the term is a constant: for a headline, for a shorter one, and after the expression that makes it one."""
    where, op = at(cut.place), cut.op.rstrip("_")
    if isinstance(cut, NodeRecord):
        return f"{op} at {where} is flat everywhere", op, "is flat everywhere: its derivative is 0"
    reason = reason_of(cut, quiet_block(program, cut))
    if is_comparison(cut):
        return f"the comparison at {where} has no derivative", "a comparison", reason
    if cut.kind == "not differentiable":
        return f"{op} at {where} has no derivative", op, reason
    return f"{cut_of(cut)} at {where} cuts it off", cut_of(cut).partition(",")[0], reason


def _remedy(program: Program, cut: BorderRecord | NodeRecord) -> str:
    operand = next((program.operand_name(one) for one in cut.operands if one.ref is not None), "the tensor")
    if isinstance(cut, NodeRecord):
        return f"Use {operand} itself in the term, or a straight-through form: x + ({cut.op}(x) - x).detach()."
    if is_comparison(cut):
        is_smooth = any(one in operand for one in ("sigmoid", "softmax", "prob"))
        instead = f"{operand} itself" if is_smooth else f"{operand} itself, or from its sigmoid"
        return f"Compute the term from {instead}, without the comparison."
    written = expression(program.recording, cut.place)
    return remedy_for(cut, written.removesuffix(".data") if written.endswith(".data") else operand, written)
