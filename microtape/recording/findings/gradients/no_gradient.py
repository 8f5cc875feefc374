"""Leaves that require grad and get none: cut off from the loss, or not used by it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from microtape.recording.findings.cuts import cut_of, is_gradient, reason_of, remedy_for
from microtape.recording.findings.finding import Finding, Severity
from microtape.recording.findings.gradients.copies import (
    by_owner,
    copied_modules,
    following_modules,
    is_in_use,
)
from microtape.recording.findings.gradients.originals import (
    begins_others,
    has_the_memory_of_another,
    stepped_originals,
    without_assigned,
)
from microtape.recording.findings.gradients.parts import takes_parts, unused_part
from microtape.recording.findings.gradients.undefined import where_stopped
from microtape.recording.findings.program import Program, operand_refs
from microtape.recording.findings.quiet_blocks import quiet_block
from microtape.recording.findings.returns import Returned, is_none
from microtape.recording.findings.wording import at, common_path, count, headline, join
from microtape.recording.model.cut_history import cut_off
from microtape.recording.model.model import (
    ArgumentRecord,
    BorderRecord,
    CallRecord,
    CallStep,
    Pass,
    Place,
    TensorRecord,
    TensorRef,
)
from microtape.recording.model.source import expression, is_installed


class _Cause(NamedTuple):
    """Why a leaf got no gradient. Leaves with the same cause share a finding."""

    headline: str  # after `W gets no gradient: `
    shorter: str
    reason: str  # a sentence
    remedy: str
    place: Place | None
    severity: Severity = "notice"  # if the program does not consume the gradient
    is_meant: bool = False  # then it stays a notice
    may_be_meant: bool = False  # if the program only passes over the leaf: a warning then, and no error


def no_gradient(program: Program) -> Iterator[Finding]:
    """One finding for each cause why leaves of the user's got a gradient in no pass."""
    passes = [(i, one) for i, one in enumerate(program.recording.passes) if one.kind == "backward" and not one.captures]
    complete = [(i, one) for i, one in passes if one.is_complete]
    if not complete:
        return
    reached = _reached(program)
    missing = [one for one in program.leaves if one.grad is None and one.name and one.id not in reached]
    missing = [one for one in missing if 0 not in one.shape]  # such as a parameter that only tells the device
    failed = {node for _, one in passes if one.has_failed for node in one.nodes}
    missing = [one for one in missing if one.node not in failed]  # to these, it was on the way
    missing = [one for one in missing if one.id not in program.asked or _is_stepped_in_vain(program, one)]
    missing = [one for one in missing if not has_the_memory_of_another(program, one, reached)]
    if program.recording.error is not None:  # what the program was yet to do may have been to use them
        last = complete[-1][1].tape
        missing = [one for one in missing if _is_wanted(program, one) or (one.node is not None and one.node < last)]
    copied = copied_modules(program, missing)
    followers = tuple(f"{one}." for one in following_modules(program, missing, copied))
    missing = [one for one in missing if not one.name.startswith(followers)]
    in_use = [one for one in missing if copied and is_in_use(program, one)]
    copied = {path: copy for path, copy in copied.items() if not any(one.name.startswith(f"{path}.") for one in in_use)}
    missing = without_assigned(program, missing, copied)
    stepped = stepped_originals(program, missing, copied)
    causes = {module: cause for one in by_owner(copied) for module, cause in _copied(program, one).items()}
    causes.update((module, _stepped_in_vain(program, module, *found)) for module, found in stepped.items())
    found: dict[tuple[_Cause, int], _Missing] = {}
    for leaf in missing[:_MOST_LEAVES]:
        module = next((one for one in causes if leaf.name.startswith(f"{one}.")), None)
        position, pass_ = _pass_for(program, leaf, complete)
        border = _border(program, leaf, pass_) if module is None else None
        if border is not None and begins_others(program, border) and _severity(program, leaf)[0] != "error":
            continue
        cause = causes[module] if module is not None else (
            _cut_off(program, border, pass_) if border is not None else _cause(program, leaf, position, pass_)
        )  # fmt: skip
        one = found.setdefault((cause, position), _Missing(cause, position, [], []))
        one.leaves.append(leaf)
        one.borders.extend([border] if border is not None else [])
    for one in _joined(program, list(found.values())):
        consumed = [leaf for leaf in one.leaves if not one.cause.is_meant and _severity(program, leaf)[0] == "error"]
        rest = [leaf for leaf in one.leaves if leaf not in consumed]
        severity: Severity = "error" if consumed else one.cause.severity
        if consumed and one.cause.may_be_meant and not any(_is_changed(program, leaf) for leaf in consumed):
            is_frozen = one.borders and all(_FROZEN.search(leaf.name) for leaf in consumed)
            severity = "notice" if is_frozen else "warning"
        yield _finding(program, one, severity, [*consumed, *rest])


class _Missing(NamedTuple):
    """The leaves that one cause leaves without a gradient in a pass, and the borders that cut them off, if any do."""

    cause: _Cause
    position: int
    leaves: list[TensorRecord]
    borders: list[BorderRecord]


def _joined(program: Program, found: list[_Missing]) -> list[_Missing]:
    """The same, with all that is computed under no_grad for one operand of the graph, layer by layer, in one."""
    by_operand: dict[object, list[_Missing]] = {}
    for one in found:
        is_quiet = len(found) > 1 and one.borders and one.borders[0].kind in _BLOCKS
        operand = _operand_made_with(program, one) if is_quiet else None
        by_operand.setdefault((one.position, operand) if operand is not None else id(one), []).append(one)
    return [
        several[0]._replace(
            leaves=[leaf for one in several for leaf in one.leaves],
            borders=[border for one in several for border in one.borders],
        )
        for several in by_operand.values()
    ]


def _operand_made_with(program: Program, missing: _Missing) -> TensorRef | None:
    """The first operand in the pass that is computed from what comes out of these borders."""
    made = {ref for border in missing.borders for ref in border.outputs}
    for border in program.recording.borders:
        if any(one.ref in made for one in border.operands):
            made.update(border.outputs)
    nodes = map(program.node, sorted(program.recording.passes[missing.position].nodes))
    return next((ref for node in nodes for ref in operand_refs(node) if ref in made), None)


def _pass_for(program: Program, leaf: TensorRecord, complete: Sequence[tuple[int, Pass]]) -> tuple[int, Pass]:
    """The last pass of the line after which the leaf is to be updated: of a GAN's passes, that of its generator."""
    stepped = {one.passes - 1 for one in program.updated.get(leaf.id, ())}
    lines = {one.place for _, one in complete if one.index in stepped}
    return next((found for found in reversed(complete) if found[1].place in lines), complete[-1])


def _copied(program: Program, copied: Mapping[str, str]) -> dict[str, _Cause]:
    """The cause for modules of which only copies are used, such as the layer given to nn.TransformerEncoder."""
    (first, copy), module = next(iter(copied.items())), join([*copied])
    cause = _Cause(
        f"only copies are used, such as {copy}", "only copies are used",
        f"The loss is computed with copies of {module}, such as {copy}, that began with the same numbers.",
        f"Nothing, if the copies are meant. To have no parameters that never change, do not keep {module}.",
        program.made_at(f"{first}.weight", first), is_meant=True,
    )  # fmt: skip
    return dict.fromkeys(copied, cause)


def _stepped_in_vain(program: Program, module: str, copy: str, step: Place) -> _Cause:
    """A module that an optimiser steps, while new copies of it get all gradients, as in meta-learning."""
    return _Cause(
        f"its copies do, and {at(step)} changes nothing", f"{at(step)} changes nothing",
        f"The loss is computed with new copies of {module}, such as {copy}: these get the gradients. "
        f"{expression(program.recording, step)} at {at(step)} has the leaves of {module} itself.",
        f"Hand them over before the step: `for p, q in zip({module}.parameters(), {copy}.parameters()): "
        "p.grad = q.grad`. Or use no copy, but functional_call with p - lr * g.",
        step,
    )  # fmt: skip


def _is_stepped_in_vain(program: Program, leaf: TensorRecord) -> bool:
    """Whether an optimiser is to update it, and never does. Else .grad of what `grad` is asked about stays None."""
    updates = program.updated.get(leaf.id, ())
    steps = [one for one in updates if ".step(" in expression(program.recording, one.place)]
    return len(steps) > 0 and all(one.change == 0 for one in updates)


_MOST_LEAVES = 100  # each is searched for through the whole recording


def _reached(program: Program) -> set[int]:
    """The leaves that some pass gave a gradient."""
    found: set[int] = set()
    for pass_ in program.recording.passes:
        found.update(pass_.grads)
        for step in program.leaf_steps(pass_):
            leaf = program.node(step.node).variable
            came = [*step.grad_outputs, step.grad_after]  # a hook may have reset .grad at once
            if leaf is not None and any(one is not None for one in came):
                found.add(leaf)
    return found


def _finding(program: Program, missing: _Missing, severity: Severity, leaves: list[TensorRecord]) -> Finding:
    cause, leaf = missing.cause, leaves[0]
    names = [one.name for one in leaves]
    module = common_path(names)
    get = "gets" if len({*names}) == 1 else "get"  # several models may have one with this name
    _, consumer = _severity(program, leaf)
    others = (("used", consumer),) if consumer is not None else ()
    where = f" where {at(consumer)} uses it" if consumer is not None else ""
    text = headline(
        f"{join(names, 3)} {get} no gradient: {cause.headline}",
        f"{join(names, 3)} {get} no gradient: {cause.shorter}",
        *[
            f"{len(names)} leaves of {module} get no gradient: {why}"
            for why in (cause.headline, cause.shorter)
            if module
        ],
        f"{join(names, 2)} {get} no gradient: {cause.shorter}",
        f"{names[0]} and {len(names) - 1} more {get} no gradient: {cause.shorter}",
        f"{count(len(names), 'leaf').replace('leafs', 'leaves')} {get} no gradient: {cause.shorter}",
    )
    concerned = f"This concerns {join(names, 6)}. " if len(leaves) > 1 else ""
    last = missing.borders[-1] if missing.borders else None
    if last is not None and last.kind in _BLOCKS and last.place != cause.place:
        until = f", up to {at(last.place)}" if _stands_after(last.place, cause.place) else ""
        concerned = f"So did what follows it{until}. {concerned}"
    remedy = cause.remedy
    if severity != "error" and missing.borders and consumer is not None:
        remedy = f"{remedy} Else leave {'it' if len(leaves) == 1 else 'them'} out of the optimiser."
    lines = (cause.reason, f"{concerned}{leaf.name}.grad is None{where}.")
    return Finding(
        "no gradient", severity, text, lines, remedy, cause.place, missing.position, None, leaf.node, leaf.id, others,
        tuple(one.node for one in leaves if one.node is not None),
    )  # fmt: skip


def _stands_after(place: Place | None, other: Place | None) -> bool:
    """Whether a place is below another, or in another file; what runs last in a loop may stand above."""
    if place is None or other is None:
        return False
    return place.file != other.file or place.line > other.line


def _border(program: Program, leaf: TensorRecord, pass_: Pass) -> BorderRecord | None:
    """The end of history between a leaf and what the pass has evaluated."""
    border = cut_off(program.recording, leaf.node, leaf.id, pass_.nodes)
    return border or _remade(program, pass_) or _last_border(program, leaf, pass_)


def _cut_off(program: Program, border: BorderRecord, pass_: Pass) -> _Cause:
    cut, where, what = cut_of(border), at(border.place), program.expression(border.place)
    operand = next((program.operand_name(one) for one in border.operands if one.ref is not None), "the tensor")
    reason = reason_of(border, quiet_block(program, border))
    is_told_by_its_line = border.kind in _OPERATIONS and not is_gradient(border)
    return _Cause(
        f"{what if what and is_told_by_its_line else cut} at {where} cuts it off", f"cut off at {where}",
        f"{what or ('The call' if border.kind in _BLOCKS else border.op)} at {where} {reason}.",
        remedy_for(border, operand, expression(program.recording, border.place)), border.place or pass_.place,
        "warning" if border.kind == "not an argument" else "notice", may_be_meant=border.kind in _BLOCKS,
    )  # fmt: skip


def _cause(program: Program, leaf: TensorRecord, position: int, pass_: Pass) -> _Cause:
    """Why no gradient came where no end of history is known."""
    root = program.root_name(pass_)
    if (made := _root_is_a_leaf(program, pass_)) is not None:
        return made
    users = program.users(leaf.node)
    if leaf.node is not None and leaf.node in program.steps[position]:
        if (blamed := _returned_none(program, leaf.node, position)) is not None:
            return _cause_in_function(program, *blamed)
        stopped = where_stopped(program, leaf.node, position)
        only = "only undefined gradients (None) reached it"
        return _Cause(only, only, stopped.sent, stopped.remedy, stopped.place)
    part = unused_part(program, leaf.name)
    left = "it" if part == leaf.name else part
    other = f"leave {left} out" if "." in leaf.name else "make it without requires_grad=True"
    remedy = f"Use it in the computation of {root}, or {other}."
    place = next((program.node(one).place for one in users), None)
    further = {*users, *[each for one in users for each in program.users(one)]}  # a layer uses the weight transposed
    if any(one.create_graph and one.kind == "grad" and further & {*one.nodes} for one in program.recording.passes):
        return _Cause(
            f"{root} is made of derivatives that do not depend on it", f"no derivative in {root} depends on it",
            f"{program.name(users[0])} at {at(place)} uses it, but {root} takes only the derivative of that.",
            f"Nothing, if {root} is meant to see derivatives only. Else add a term that uses the value itself.",
            place or pass_.place, is_meant=True,
        )  # fmt: skip
    if place is not None:
        return _Cause(
            f"{root} does not use what {at(place)} computes of it", f"{root} was not computed from it",
            f"{program.name(users[0])} at {at(place)} uses it, but no result of that reaches {root}.", remedy, place,
        )  # fmt: skip
    if leaf.id in program.inside_forwards:
        return _inside_forward(program, *program.inside_forwards[leaf.id])
    place = program.made_at(leaf.name, part) or pass_.place
    unused, where = f"not on the way to {root}", f" ({at(place)})"
    reason = f"It requires grad, but no operation on the way to {root} uses it."
    if is_installed(place):  # its models have parts that not every loss uses
        remedy = f"Nothing, if {root} is not meant to use this part of an installed model. Else see how it is called."
        return _Cause(unused, unused, reason, remedy, pass_.place, is_meant=True)
    if takes_parts(program, part):
        remedy = f"Nothing, if {root} is not meant to use this part. Else see which parts of the model are called."
        return _Cause(unused + where, unused, reason, remedy, place, is_meant=True)
    return _Cause(unused + where, unused, reason, remedy, place, may_be_meant=True)


def _root_is_a_leaf(program: Program, pass_: Pass) -> _Cause | None:
    """Backward from a leaf, such as a loss that was made anew of its value, reaches nothing else."""
    roots = [program.node(one.node).variable for one in pass_.roots if one.node is not None]
    leaves = [one for one in roots if one is not None]
    if not leaves or len(leaves) < len(roots):
        return None
    root, border = program.root_name(pass_), program.made_without_history.get(leaves[0])
    place = border.place if border is not None else program.made_at(root)
    where = f" ({at(place)})" if place is not None else ""
    return _Cause(
        f"{root} is itself a leaf{where}", f"{root} is a leaf",
        f"{root} was made of bare numbers, so that backward has nothing behind it to go to.",
        "Call backward on the result that was computed, not on a new tensor made of its value.", place or pass_.place,
        "warning",
    )  # fmt: skip


def _inside_forward(program: Program, call: CallRecord, step: CallStep) -> _Cause:
    """The forward of a Function uses it, and nothing else does."""
    where, what = at(step.place), program.expression(step.place) or step.op
    function = call.name.removesuffix(".forward")
    return _Cause(
        f"{function} uses it without being given it ({where})", f"no argument of {function} ({where})",
        f"{what} at {where} runs in {call.name}, off the tape: only arguments of {function}.apply get gradients.",
        f"Pass it to {function}.apply as an argument, and return its gradient from {function}.backward.",
        step.place, "warning",
    )  # fmt: skip


def _returned_none(program: Program, leaf: int, position: int) -> tuple[Returned, ArgumentRecord] | None:
    """The Function whose backward returned None for what was computed from a leaf, in this pass."""
    by_node = {one.step.node: one for one in program.returned if one.pass_ == position}
    waiting, seen = [leaf], {leaf}
    while waiting:
        receiver = waiting.pop()
        for user in program.users(receiver):
            step = program.steps[position].get(user)
            if step is None or user in seen:
                continue
            seen.add(user)
            one = by_node.get(user)
            edges = [i for i, edge in enumerate(program.node(user).edges) if edge.node == receiver]
            for argument, gradient in one.needed if one is not None else ():
                if one is not None and argument.edge in edges and is_none(gradient):
                    return one, argument
            if all(step.grad_inputs[i] is None for i in edges):
                waiting.append(user)
    return None


def _cause_in_function(program: Program, one: Returned, argument: ArgumentRecord) -> _Cause:
    function, where = f"{program.node(one.step.node).op}.backward", at(one.place)
    return _Cause(
        f"{function} returns None for {argument.name} ({where})", f"{function} returns None ({where})",
        f"{function} returned None for its argument {argument.name} at {where}, so only undefined gradients came.",
        f"Return the derivative by {argument.name} at its place.", one.place, "notice" if one.stops else "warning",
    )  # fmt: skip


_FROZEN = re.compile(r"(^|[._])(teacher|target|ema|momentum|frozen|reference|ref|old)([._]|$)")
"""The names of what is meant to learn by other means, or not at all."""
_BLOCKS = ("no_grad", "inference_mode")  # which may hold many layers
_OPERATIONS = ("detach", "copied", "not differentiable")


def _severity(program: Program, leaf: TensorRecord) -> tuple[Severity, Place | None]:
    """An error if the program consumes the gradient: if it updates the leaf without one, or fails for want of it."""
    passes = {one.index: (i, one) for i, one in enumerate(program.recording.passes)}
    for update in program.updated.get(leaf.id, ()):
        position, before = passes.get(update.passes - 1, (0, None))
        if before is not None and leaf.node not in program.steps[position] and leaf.id not in before.grads:
            return "error", update.place
    if program.wants_gradient_of(leaf.id):
        return "error", program.missing_gradient_at
    return "notice", None


def _is_wanted(program: Program, leaf: TensorRecord) -> bool:
    """Whether the program has come to the place where it would use the gradient."""
    return leaf.id in program.updated or program.wants_gradient_of(leaf.id)


def _is_changed(program: Program, leaf: TensorRecord) -> bool:
    """Whether the program updates it, or fails for want of its gradient."""
    return program.wants_gradient_of(leaf.id) or any(one.change != 0 for one in program.updated.get(leaf.id, ()))


def _remade(program: Program, pass_: Pass) -> BorderRecord | None:
    """The border at which a leaf of the pass, no root of it, was made of bare values: the way to those is not known."""
    leaves = [program.node(one).variable for one in pass_.nodes if one not in {root.node for root in pass_.roots}]
    made = (program.made_without_history.get(one) for one in leaves if one is not None)
    return next((one for one in made if one is not None and one.kind == "copied"), None)


def _last_border(program: Program, leaf: TensorRecord, pass_: Pass) -> BorderRecord | None:
    """The border to which the results of a leaf lead, if the loss is computed from it in a way that was not seen.

    One that comes after the pass cuts nothing off there, as where a network is the teacher of another one later. What
    an optimiser computes under no_grad with all its leaves goes back into these, and is none.
    """
    computed = {leaf.node}
    for node in program.recording.nodes[leaf.node + 1 :] if leaf.node is not None else ():
        if any(edge.node in computed for edge in node.edges):
            computed.add(node.id)
    refs = {ref for one in computed if one is not None for ref in program.node(one).outputs}
    found = [
        border
        for border in program.recording.borders
        if not border.in_place
        and border.tape < pass_.tape
        and (border.kind not in ("no_grad", "inference_mode") or _is_used(program, border))
        and any(one.ref is not None and (one.ref in refs or one.ref.tensor == leaf.id) for one in border.operands)
    ]
    return found[0] if found else None


def _is_used(program: Program, border: BorderRecord) -> bool:
    """Whether something is computed from the results of a border."""
    tensors = [ref.tensor for ref in border.outputs]
    later = [one for tensor in tensors for one in program.borders_from.get(tensor, ())]
    return any(one in program.readers for one in tensors) or any(not one.in_place for one in later)
