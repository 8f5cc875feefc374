"""A pass that failed because an earlier one had freed a part of its graph."""

from __future__ import annotations

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program, at, headline
from microtape.recording.model.model import BackwardStep, ErrorRecord, Pass, Place


def freed(program: Program, position: int, step: BackwardStep, error: ErrorRecord) -> Finding:
    """The finding for a backward that needed what an earlier one had freed."""
    recording, node = program.recording, program.node(step.node)
    pass_ = recording.passes[position]
    earlier = _freeing_pass(program, position, step.node)
    freed_at = earlier.place if earlier is not None else None
    freed_by = (
        f"the backward of pass {earlier.index + 1} at {at(freed_at)}" if earlier is not None else "an earlier backward"
    )
    name = program.name(node.id)
    others = [("freed", freed_at)] if freed_at is not None else []
    if node.place is not None:
        others.append(("recorded", node.place))
    others_kept = tuple((role, place) for role, place in others if place is not None)
    lines = [f"{name} at {at(node.place)} is part of both graphs; {freed_by} freed what it had saved."]
    carried = _carried(program, pass_, earlier) if earlier is not None else None
    place: Place | None
    if carried is not None:
        user, old = program.node(carried[0]), carried[1]
        place, what = user.place, program.name(old)
        text = headline(
            f"{what} carries the graph of pass {earlier.index + 1} into pass {pass_.index + 1}"  # type: ignore[union-attr]
            f", where it is freed: {at(place)}",
            f"{what} at {at(place)} carries a freed graph into pass {pass_.index + 1}",
        )
        lines.append(
            f"At {at(place)}, {program.expression(user.place) or user.op} uses {what}, which was computed before that backward: so "
            f"{pass_.kind}() at {at(pass_.place)} goes back into its graph."
        )
        remedy = (
            f"Cut the old graph off where the next one begins: use {what}.detach() (or .item() for a number to print), or "
            "call backward once for all of it."
        )
        tensor = program.tensor_of(program.node(old))
    elif earlier is not None and {root.node for root in earlier.roots} == {root.node for root in pass_.roots}:
        place, tensor = freed_at, None
        text = headline(
            f"{program.root_name(pass_)} is differentiated twice; the first backward freed its graph: {at(freed_at)}",
            f"The graph was freed by the first of two backwards, at {at(freed_at)}",
        )
        lines.append(f"{pass_.kind}() at {at(pass_.place)} goes through the same graph again.")
        remedy = "Call backward once, or pass retain_graph=True to the first call if the second is meant."
    else:
        place, tensor = freed_at or pass_.place, program.tensor_of(node)
        first = program.root_name(earlier) if earlier is not None else "an earlier loss"
        text = headline(
            f"{first} and {program.root_name(pass_)} share {name}, freed by the backward at {at(place)}",
            f"Two losses share {name}, freed by the backward at {at(place)}",
            f"Two losses share a part of the graph, freed by the backward at {at(place)}",
        )
        lines.append(f"{pass_.kind}() at {at(pass_.place)} needs it again.")
        remedy = (
            "Add the losses and call backward once, or pass retain_graph=True to the first backward; if the second should not "
            f"reach that part, detach {name}."
        )
    return Finding(
        "freed", "error", text, tuple(lines), remedy, place, position, step.index, node.id, tensor, others_kept
    )  # fmt: skip


def _freeing_pass(program: Program, position: int, node: int) -> Pass | None:
    """The earlier pass that freed what the node had saved."""
    for before in reversed(range(position)):
        step = program.steps[before].get(node)
        if step is not None and step.freed:
            return program.recording.passes[before]
    return None


def _carried(program: Program, pass_: Pass, earlier: Pass) -> tuple[int, int] | None:
    """An operation recorded after the earlier pass that uses a result from before it: (that operation, the result).

    None if the failed pass has nothing that was recorded after the earlier one: then two losses share a part.
    """
    new = [node for node in pass_.nodes if node >= earlier.tape and program.node(node).variable is None]
    freed = set(earlier.nodes)
    for number in new:
        for edge in program.node(number).edges:
            if edge.node is not None and edge.node in freed and program.node(edge.node).variable is None:
                return number, edge.node
    return None
