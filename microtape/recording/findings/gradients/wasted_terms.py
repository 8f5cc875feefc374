"""Terms of a loss that train nothing: cut off from what is updated, and given to what is updated after other passes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import islice
from typing import NamedTuple

import numpy as np

from microtape.recording.findings.cuts import cut_of, is_gradient, reason_of, remedy_for
from microtape.recording.findings.finding import Finding
from microtape.recording.findings.gradients.constant_terms import sums_of
from microtape.recording.findings.histories import history
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.quiet_blocks import quiet_block
from microtape.recording.findings.wording import at, headline, join
from microtape.recording.model.cut_history import way_back
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import BorderRecord, NodeRecord, Place, TensorRef
from microtape.recording.model.source import expression

_FEWEST = 2  # passes that add the term
_MOST_TERMS = 8  # of a pass, whose leaves are looked for
_CUTS = ("detach", "no_grad", "inference_mode", "copied")


class _Wasted(NamedTuple):
    """A term, and where it was cut off from the leaves that are updated after its pass."""

    sum: NodeRecord
    term: NodeRecord
    reached: frozenset[int]  # the leaves that it gives gradients to
    cut: BorderRecord
    missed: frozenset[int]  # the leaves that were updated, and lie behind the cut


def wasted_terms(program: Program) -> Iterator[Finding]:
    """A term whose gradients are all reset unused, as if it were not there, because a detach leaves out all others.

    So it is with the loss of a generator whose output is detached before the discriminator judges it: the
    discriminator gets gradients, and is updated after other passes. A sum of all losses that serves several optimisers
    in turn is another matter: a term in it trains something after some of its passes.
    """
    borders = program.recording.borders
    if not any(one.kind in _CUTS for one in borders) or len(program.updated) < 2 or program.assigns_gradients:
        return
    by_line: dict[tuple[Place | None, Place | None], list[tuple[int, NodeRecord]]] = {}
    for position, pass_ in enumerate(program.recording.passes):
        if pass_.kind == "backward" and pass_.is_complete and not pass_.captures:
            for node in islice(sums_of(program, pass_), _MOST_TERMS):
                by_line.setdefault((pass_.place, node.place), []).append((position, node))
    for sums in by_line.values():
        if len(sums) < _FEWEST:
            continue
        position, node = sums[0]
        for edge in range(len(node.edges)):
            found = _wasted(program, position, node, edge)
            if found is not None and all(_is_wasted(program, *one, edge) for one in sums[1:]):
                yield _finding(program, position, found)
                return


def _is_wasted(program: Program, position: int, node: NodeRecord, edge: int) -> bool:
    return _wasted(program, position, node, edge) is not None


def _wasted(program: Program, position: int, node: NodeRecord, edge: int) -> _Wasted | None:
    """The term that a sum has there, if nothing of what it gives gradients to is updated with them."""
    number = node.edges[edge].node if edge < len(node.edges) else None
    if number is None or program.is_leaf[number]:
        return None
    behind = history(program, program.node(number))
    reached = frozenset(_leaves(program, behind))
    stepped = _stepped_after(program, position)
    if not reached or not stepped or reached & stepped:
        return None
    if not all(leaf in program.updated and _is_reset(program, position, leaf) for leaf in reached):
        return None
    for one in sorted(behind):
        for ref in operand_refs(program.node(one)):
            cut = program.borders.get(ref)
            found = _cut_from(program, cut, stepped) if cut is not None else None
            if found is not None:
                return _Wasted(node, program.node(number), reached, *found)
    return None


def _leaves(program: Program, nodes: Set[int]) -> Iterator[int]:
    return (leaf for one in nodes if (leaf := program.node(one).variable) is not None)


def _stepped_after(program: Program, position: int) -> set[int]:
    """The leaves that were changed after a pass, before the next one."""
    after = program.recording.passes[position].index + 1
    return {leaf for leaf, ways in program.updated.items() if any(one.passes == after and one.change for one in ways)}


def _is_reset(program: Program, position: int, leaf: int) -> bool:
    """Whether the gradient that a leaf has after a pass is gone at the next that reaches it, and has changed nothing.

    A leaf that no later pass reaches may be read by the program.
    """
    ways = program.accumulations.get(leaf, ())
    later = next(((at_, step) for at_, step in ways if at_ > position), None)
    if later is None:
        return False
    before, passes = later[1].grad_before, program.recording.passes
    between = range(passes[position].index + 1, passes[later[0]].index + 1)
    is_used = any(one.passes in between and one.change != 0 for one in program.updated[leaf])
    return not is_used and (before is None or program.sizes.is_zero(before))


def _cut_from(
    program: Program, border: BorderRecord, stepped: Set[int]
) -> tuple[BorderRecord, frozenset[int]] | None:  # fmt: skip
    """Where the way to leaves that are updated was cut, if they lie behind."""
    for one in way_back(border, program.borders):
        if one.kind in _CUTS and not is_gradient(one) and not one.in_place:
            missed = stepped & {*_behind(program, operand_refs(one))}
            if missed:
                return one, frozenset(missed)
    return None


def _behind(program: Program, refs: Sequence[TensorRef]) -> Iterator[int]:
    for ref in refs:
        number = program.producer.get(ref, program.recording.tensors[ref.tensor].node)
        if number is not None:
            yield from _leaves(program, history(program, program.node(number)))


def _finding(program: Program, position: int, wasted: _Wasted) -> Finding:
    pass_, cut, node = program.recording.passes[position], wasted.cut, wasted.sum
    root, where = program.root_name(pass_), at(cut.place)
    term = wasted.term.outputs[0] if wasted.term.outputs else None
    name = program.name(wasted.term.id)
    name = "the term" if name.startswith("%") else name
    value = program.recording.value(term)
    is_number = isinstance(value, np.ndarray) and value.size == 1
    number = f" ({format_number(value.item())} in {program.pass_name(position)})" if is_number else ""  # type: ignore[union-attr]
    reached, missed = (_names(program, one) for one in (wasted.reached, wasted.missed))
    what = program.expression(cut.place) or cut.op.rstrip("_")
    operand = next((program.operand_name(one) for one in cut.operands if one.ref is not None), "the tensor")
    return Finding(
        "no gradient", "warning",
        headline(f"A term of {root} trains nothing: {cut_of(cut)} at {where} cuts it off",
                 f"A term of {root} trains nothing: cut off at {where}",
                 f"A term of the loss trains nothing: cut off at {where}"),
        (f"{what} at {where} {reason_of(cut, quiet_block(program, cut))}.",
         f"So {name}{number}, which {at(node.place)} adds, gives no gradient to {join(missed, 3)}, which "
         f"{'is' if len(missed) == 1 else 'are'} updated after this pass.",
         f"It gives some to {join(reached, 3)}: these are reset before anything uses them."),
        f"{remedy_for(cut, operand, expression(program.recording, cut.place))} Else leave {name} out of {root}.",
        cut.place or node.place, position, None, node.id, term.tensor if term is not None else None,
        (("used", node.place),) if node.place is not None else (),
    )  # fmt: skip


def _names(program: Program, leaves: Set[int]) -> list[str]:
    return [program.tensor_name(one) for one in sorted(leaves)]
