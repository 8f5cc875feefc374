"""Why a gradient does not arrive: look-ups over the borders of a `Recording`, where history was cut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from microtape.recording.model.model import BorderRecord, CallRecord, CallStep, Recording, TensorRef


def borders_by_output(recording: Recording) -> Mapping[TensorRef, BorderRecord]:
    """Maps a tensor at a version to the border whose output it is."""
    return {ref: border for border in recording.borders for ref in border.outputs}


def used_in_forwards(recording: Recording) -> Mapping[int, tuple[CallRecord, CallStep]]:
    """Maps a tensor to the first operation on it in the forward of a Function, with that call."""
    found: dict[int, tuple[CallRecord, CallStep]] = {}
    for call in recording.calls:
        for step in call.steps if call.kind == "forward" else ():
            for operand in step.operands:
                if operand.ref is not None:
                    found.setdefault(operand.ref.tensor, (call, step))
    return found


def way_back(border: BorderRecord, by_output: Mapping[TensorRef, BorderRecord]) -> list[BorderRecord]:
    """The border and those that its operands came from, the nearest first, back to the one that left the tape."""
    found, seen = [border], {border.outputs}
    for one in found:
        for operand in one.operands if one.kind == "constant" else ():
            before = by_output.get(operand.ref) if operand.ref is not None else None
            if before is not None and before.outputs not in seen:
                seen.add(before.outputs)
                found.append(before)
    return found


def crossing(border: BorderRecord, by_output: Mapping[TensorRef, BorderRecord]) -> BorderRecord:
    """The border that left the tape: this one, or one that its operands were computed from."""
    return next((one for one in way_back(border, by_output) if one.kind != "constant"), border)


def cut_off(recording: Recording, node: int | None, leaf: int | None, evaluated: Iterable[int]) -> BorderRecord | None:
    """The border between a node, or a leaf tensor, and the evaluated nodes that are or use something computed from it.

    Of several ways, that which was on the tape for a while: what is drawn from a policy under no_grad is data for the
    loss, in which the policy runs again. None if there is no such border. A leaf that no recorded operation used has no
    node.
    """
    later = {node}
    for record in recording.nodes[node + 1 :] if node is not None else ():
        if any(edge.node in later for edge in record.edges):
            later.add(record.id)
    computed = {ref for one in later if one is not None for ref in recording.nodes[one].outputs}
    beyond: dict[TensorRef, BorderRecord] = {}
    without_history: set[int] = set()  # tensors that came out of a border
    for border in recording.borders:
        refs = [operand.ref for operand in border.operands if operand.ref is not None]
        written = {ref.tensor for ref in border.outputs}
        if border.in_place and border.kind != "detach" and not written <= without_history:
            continue  # the tensor keeps its history
        without_history |= written
        if any(ref in computed or ref.tensor == leaf for ref in refs):
            crossed: BorderRecord | None = border
        else:
            crossed = first_from_tape((beyond[ref] for ref in refs if ref in beyond), computed)
        if crossed is not None:
            beyond.update(dict.fromkeys(border.outputs, crossed))
    records = [recording.nodes[one] for one in sorted(evaluated)]
    used = (operand.ref for one in records for operand in one.operands)
    if (
        found := first_from_tape((beyond[ref] for ref in used if ref is not None and ref in beyond), computed)
    ) is not None:
        return found
    leaves = {one.variable for one in records if one.variable is not None}  # a root may be made of a bare value
    return next((border for ref, border in beyond.items() if ref.tensor in leaves), None)


def first_from_tape(crossed: Iterable[BorderRecord], computed: Set[TensorRef | None]) -> BorderRecord | None:
    """The first border that takes what was computed on the tape, else the first one; None if there is none."""
    first = None
    for border in crossed:
        if any(operand.ref is not None and operand.ref in computed for operand in border.operands):
            return border
        first = first or border
    return first
