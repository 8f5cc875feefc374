"""A pass that failed because an earlier one had freed a part of its graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set
from itertools import pairwise
from typing import NamedTuple

from microtape.recording.findings.failing.carried import at_a_name, detached
from microtape.recording.findings.failing.order import recorded_between
from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.model import BackwardStep, ErrorRecord, NodeRecord, Pass, Place
from microtape.recording.model.source import expression, only_expression


def freed(program: Program, position: int, step: BackwardStep, error: ErrorRecord) -> Finding:
    """The finding for a backward that needed what an earlier one had freed."""
    node, pass_ = program.node(step.node), program.recording.passes[position]
    freeing = _freeing(program, position, step.node)
    earlier, freed_at = freeing.kept, freeing.place
    name = program.name(node.id)
    again = any(one >= (freeing.tape or 0) and program.node(one).place == node.place for one in pass_.nodes)
    which = f", as computed for {freeing.name}," if again and freeing.tape is not None else ""
    lines = [f"{name} at {at(node.place)}{which} is part of both graphs; {freeing.text} freed what it had saved."]
    carried = _carried(program, pass_, freeing, step.node)
    place: Place | None
    if carried is not None and earlier is not None and (constant := _computed_once(program, earlier, pass_, *carried)):
        place, tensor = constant.place, program.tensor_of(constant)
        text, line, remedy = _of_a_constant(program, constant, earlier, pass_)
        lines.append(line)
    elif carried is not None and earlier is not None and earlier.kind == "grad" and freed_at != pass_.place:
        place, tensor = freed_at, None
        text = headline(
            f"grad() at {at(freed_at)} frees the graph of {program.root_name(earlier)}, which {at(pass_.place)} needs",
            f"grad() at {at(freed_at)} frees a graph that {pass_.kind}() at {at(pass_.place)} needs",
        )
        lines.append(f"{pass_.kind}() at {at(pass_.place)} goes through it again.")
        remedy = (
            "Pass create_graph=True to grad(), if the loss depends on what it returns: that keeps the graph, too. Else "
            "pass retain_graph=True."
        )
    elif carried is not None:
        user, old = program.node(carried[0]), carried[1]
        place, what = user.place, program.name(old)
        text = headline(
            f"{what} carries the graph of {freeing.name} into pass {pass_.index + 1}, where it is freed: {at(place)}",
            f"{what} at {at(place)} carries a freed graph into pass {pass_.index + 1}",
        )
        lines.append(
            f"At {at(place)}, {program.expression(user.place) or user.op} uses {what}, which was computed before that "
            f"backward: so {pass_.kind}() at {at(pass_.place)} goes back into its graph."
        )
        cut = detached(program, _all_carried(program, pass_, freeing))
        remedy = f"Cut the old graph off where the next one begins: {cut}, or call backward once for all of it."
        if kept := _list_at(program, place):
            text = headline(
                f"{kept} still holds results of {freeing.name}, whose graph is freed: {at(place)}",
                f"{kept} still holds results of {freeing.name}: {at(place)}",
            )
            remedy = f"Empty {kept} after each backward, or make it anew in each round."
        elif _are_in_order(program.node(old).place, freed_at, place) or _are_in_order(freed_at, pass_.place):
            remedy = (
                f"If {freeing.name} should not train what {what} comes from, give {what}.detach() to its loss. Else "
                "add the losses and call backward once."
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
    elif earlier is not None and freed_at == pass_.place:  # it comes by again
        place, tensor = node.place, program.tensor_of(node)
        text, line, remedy = _of_a_constant(program, node, earlier, pass_)
        lines.append(line)
    elif freed_at is None:
        place, tensor = pass_.place, program.tensor_of(node)
        root = program.root_name(pass_)
        text = headline(
            f"A backward before this recording freed a part of the graph of {root}: {name}",
            f"A backward before this recording freed a part of the graph of {root}",
            "A backward before this recording freed a part of the graph",
        )
        where = f"{name} at {at(node.place)}" if node.place is not None else name
        lines = [f"What {where} had saved was freed before; {pass_.kind}() needs it again."]
        remedy = (
            "Compute the loss anew before each backward, or pass retain_graph=True to the first one, if the second is "
            "meant."
        )
    else:
        place, tensor = freed_at, program.tensor_of(node)
        first = program.root_name(earlier) if earlier is not None else "an earlier loss"
        text = headline(
            f"{first} and {program.root_name(pass_)} share {name}, freed by the backward at {at(place)}",
            f"Two losses share {name}, freed by the backward at {at(place)}",
            f"Two losses share a part of the graph, freed by the backward at {at(place)}",
        )
        lines.append(f"{pass_.kind}() at {at(pass_.place)} needs it again.")
        remedy = (
            "Add the losses and call backward once, or pass retain_graph=True to the first backward; if the second "
            f"should not reach that part, detach {name}."
        )
    others = tuple((role, one) for role, one in (("freed", freed_at), ("recorded", node.place)) if one is not None)
    return Finding("freed", "error", text, tuple(lines), remedy, place, position, step.index, node.id, tensor, others)


def _of_a_constant(program: Program, node: NodeRecord, earlier: Pass, pass_: Pass) -> tuple[str, str, str]:
    """The headline, a line and the remedy for a result that several passes share."""
    what = program.name(node.id)
    text = headline(
        f"{what} is computed once, at {at(node.place)}, but used in every pass: pass {earlier.index + 1} freed it",
        f"{what} at {at(node.place)} is computed once, but used in every pass",
        f"A part of the graph is computed once, at {at(node.place)}, but used in every pass",
    )
    line = f"{pass_.kind}() at {at(pass_.place)} goes back through it again."
    remedy = f"Compute {what} anew before each backward, inside the loop; or, if it is a constant, in no_grad()."
    return text, line, remedy


class _Freeing(NamedTuple):
    """The call of backward that freed a node. Of a pass that was not kept, only its number and line are known."""

    number: int | None  # counted from 1
    place: Place | None
    kept: Pass | None
    tape: int | None  # how many nodes the tape had then

    @property
    def name(self) -> str:
        """`pass 3`."""
        return f"pass {self.number}" if self.number is not None else "an earlier pass"

    @property
    def text(self) -> str:
        """`the backward of pass 3 at train.py:12`."""
        return f"the backward of {self.name} at {at(self.place)}" if self.number is not None else "an earlier backward"


def _freeing(program: Program, position: int, node: int) -> _Freeing:
    """The earlier pass that freed what the node had saved."""
    is_write = program.node(node).kind == "copy_slices"  # of which torch does not tell what it holds
    for before in reversed(range(position)):
        step, pass_ = program.steps[before].get(node), program.recording.passes[before]
        if step is not None and (step.freed or (is_write and not pass_.retain_graph)):
            return _Freeing(pass_.index + 1, pass_.place, pass_, pass_.tape)
    for one in program.recording.freed_by:
        if one.node == node:
            nodes = [each.node for each in program.recording.freed_by if each.pass_ == one.pass_]
            return _Freeing(one.pass_ + 1, one.place, None, max(nodes) + 1)
    return _Freeing(None, None, None, None)


def _carried(program: Program, pass_: Pass, freeing: _Freeing, failed: int) -> tuple[int, int] | None:
    """An operation recorded after the freeing pass that uses a result from before it: (that operation, the result).

    None if the failed pass has nothing that was recorded after the other: then two losses share a part.
    """
    return next(_carriers(program, pass_, freeing, {failed}), None)


def _all_carried(program: Program, pass_: Pass, freeing: _Freeing) -> list[int]:
    """All results of that kind, such as the two states of an LSTM: backward would fail at the next one."""
    if freeing.kept is not None:
        freed_nodes = {one.node for one in freeing.kept.steps if one.freed}
    else:
        freed_nodes = {one.node for one in program.recording.freed_by if one.pass_ + 1 == freeing.number}
    return list(dict.fromkeys(old for _, old in _carriers(program, pass_, freeing, freed_nodes)))


def _carriers(program: Program, pass_: Pass, freeing: _Freeing, freed_nodes: Set[int]) -> Iterator[tuple[int, int]]:
    """Each operation recorded after the freeing pass that uses a result through which backward comes to these nodes."""
    if freeing.tape is None:
        return
    for number in pass_.nodes:
        if number < freeing.tape or program.node(number).variable is not None:
            continue
        if freeing.kept is not None and recorded_between(program, number, freeing.kept, pass_) is False:
            continue
        for edge in program.node(number).edges:
            old = edge.node
            is_old = old is not None and old < freeing.tape and program.node(old).variable is None
            if old is not None and is_old and _leads_to(program, old, freed_nodes):
                yield at_a_name(program, pass_, number, old)


def _list_at(program: Program, place: Place | None) -> str:
    """The list that a call such as `sum(losses)` or `stack(losses)` is given, if the program appends to one there."""
    match only_expression(expression(program.recording, place)):
        case ast.Call(args=[ast.Name(name), *_]) if place is not None:
            return name if f"{name}.append(" in program.recording.sources.get(place.file, "") else ""
    return ""


def _are_in_order(*places: Place | None) -> bool:
    """Whether lines of one function follow each other, so that they most likely ran in the same round of a loop."""
    several = [one for one in places if one is not None]
    functions = {(one.file, one.function) for one in several}
    return len(functions) == 1 and all(one.line < other.line for one, other in pairwise(several))


def _leads_to(program: Program, start: int, ends: Set[int]) -> bool:
    """Whether backward from a node comes to one of the others."""
    seen, waiting, first = {start}, [start], min(ends, default=0)
    while waiting:
        node = waiting.pop()
        if node in ends:
            return True
        for edge in program.node(node).edges:
            if edge.node is not None and edge.node >= first and edge.node not in seen:
                seen.add(edge.node)
                waiting.append(edge.node)
    return False


def _computed_once(program: Program, earlier: Pass, failed: Pass, user: int, old: int) -> NodeRecord | None:
    """The old result, if it was computed before the loop: the same expression used it in the earlier pass, too.

    It was not if its own line ran again since, as with the state of an RNN that each pass hands to the next. Where two
    lines call backward, both may belong to one round: the losses of a critic and its generator use the same model.
    """
    if earlier.place != failed.place:
        return None
    place, made_at = program.node(user).place, program.node(old).place
    evaluated = set(earlier.nodes)
    before = [one for one in program.users(old) if one in evaluated]
    again = any(program.node(one).place == made_at for one in failed.nodes if one > old and one not in evaluated)
    is_constant = place is not None and not again and any(program.node(one).place == place for one in before)
    return program.node(old) if is_constant else None
