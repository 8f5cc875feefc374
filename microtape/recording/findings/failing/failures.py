"""Passes that failed, told by their cause."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping

from microtape.recording.findings.failing.carried import at_a_name, detached
from microtape.recording.findings.failing.freed import freed
from microtape.recording.findings.failing.growth import crossings
from microtape.recording.findings.finding import Finding, FindingKind
from microtape.recording.findings.hooks import hook_at
from microtape.recording.findings.program import Program
from microtape.recording.findings.remedies import UNUSED, UPDATE_LATER, WRITE_ELSEWHERE, write_elsewhere
from microtape.recording.findings.wording import at, count, first_sentence, headline, join
from microtape.recording.model.model import BackwardStep, ErrorRecord, Pass, Place, TensorRef
from microtape.recording.model.source import place_in


def failures(program: Program) -> Iterator[Finding]:
    """One finding for each pass that failed."""
    for position, pass_ in enumerate(program.recording.passes):
        if pass_.has_failed and pass_.error is not None:
            yield _of_pass(program, position, pass_.error)


def _of_pass(program: Program, position: int, error: ErrorRecord) -> Finding:
    pass_ = program.recording.passes[position]
    last = pass_.steps[-1] if pass_.steps else None
    failed = last if last is not None and last.error is not None else None
    tell = _CAUSES.get(error.type) or next((one for words, one in _BY_WORDING.items() if words in error.message), None)
    if tell is not None and failed is not None:
        return tell(program, position, failed, error)
    return _raised(program, position, failed, error)


# Overwritten in place


def _overwritten(program: Program, position: int, step: BackwardStep, error: ErrorRecord) -> Finding:
    places = dict(error.places)
    node = program.node(step.node)
    stale = next((use for use in step.saved if use.version_now != use.ref.version), None)
    tensor = stale.ref.tensor if stale is not None else None
    name = program.ref_name(stale.ref) if stale is not None else "a saved tensor"
    saved, modified = places.get("saved", node.place), places.get("modified")
    if modified is None and stale is not None:
        modified = write_to(program, stale.ref)
    lines = []
    if stale is not None:
        versions = f"version {stale.ref.version}", f"version {stale.version_now}"
        expression = program.expression(node.place) or node.op
        lines.append(f"{expression} at {at(node.place)} saved {name} at {versions[0]}, for its derivative.")
        lines.append(f"The write at {at(modified)} made it {versions[1]}, so the value that backward needs is gone.")
    if not lines:
        lines.append(f"{first_sentence(error.message)}.")
    record = program.recording.tensors[tensor] if tensor is not None else None
    if record is not None and record.base is not None:
        record = program.recording.tensors[record.base]
    if record is not None and record.is_leaf and record.requires_grad:
        remedy = UPDATE_LATER
        if (carried := _carried_by(program, position, step.node)) is not None:
            earlier, results = carried
            old = join(list(dict.fromkeys(map(program.name, results))))
            lines.append(
                f"{program.pass_name(position).capitalize()} goes back into the graph of pass {earlier.index + 1}, "
                f"which retain_graph at {at(earlier.place)} has kept, through {old}."
            )
            remedy = (
                f"Cut the old graph off where the next one begins: {detached(program, results)}, and no retain_graph."
            )
    elif modified is not None:
        remedy = write_elsewhere(program.recording, modified)
    else:
        remedy = WRITE_ELSEWHERE
    text = headline(
        f"{name} was overwritten at {at(modified)}, but {node.op} at {_line(saved)} saved it for backward",
        f"{name} was overwritten at {at(modified)}; {node.op} had saved it for backward",
        f"A tensor saved by {node.op} was overwritten at {at(modified)}",
    )
    others = tuple((role, place) for role, place in (("saved", saved), ("modified", modified)) if place is not None)
    return Finding(
        "overwritten", "error", text, tuple(lines), remedy, modified or node.place, position, step.index, node.id,
        tensor, others,
    )  # fmt: skip


def _carried_by(program: Program, position: int, node: int) -> tuple[Pass, list[int]] | None:
    """The earlier pass from this line that kept the graph of a node, and the results of it that lead there again.

    One from another line may be that of another loss, which shares the forward.
    """
    later = program.recording.passes[position]
    for earlier in program.recording.passes[:position]:
        if earlier.retain_graph and node in earlier.nodes and earlier.place == later.place:
            ways = [at_a_name(program, later, *way) for way in crossings(program, earlier, later)]
            return (earlier, [old for _, old in ways]) if ways else None
    return None


def write_to(program: Program, saved: TensorRef) -> Place | None:
    """The line that wrote into a tensor, or into one that shares its memory, after that version."""
    tensors = program.recording.tensors
    family = {saved.tensor, tensors[saved.tensor].base}
    family |= {one.id for one in tensors if one.base in family and one.base is not None}
    for node in program.recording.nodes:
        if node.in_place and any(
            ref is not None and ref.tensor in family and ref.version > saved.version for ref in node.outputs
        ):
            return node.place
    for call in program.recording.calls:  # in a Function, which may have kept it from autograd
        for step in call.steps:
            if step.in_place and any(one.ref is not None and one.ref.tensor in family for one in step.outputs):
                return step.place
    for border in program.recording.borders:
        if border.in_place and any(ref.tensor in family and ref.version > saved.version for ref in border.outputs):
            return border.place
    updates = [one.place for one in program.recording.updates if one.tensor in family]
    return updates[-1] if updates else None


# A Function's gradients


def _wrong_return(program: Program, position: int, step: BackwardStep, error: ErrorRecord) -> Finding:
    node = program.node(step.node)
    place = returned_at(program, node.op) or node.place
    message = first_sentence(error.message)
    others = (("called", node.place),) if node.place is not None and place is not node.place else ()
    lines = [f"{message}."]
    operands = [program.operand_name(one) for one in node.operands]
    if operands:
        took = f"Its forward took {count(len(operands), 'argument')}: {join(operands)}"
        lines.append(f"{took}; backward returns one gradient for each.")
    problem = _short_problem(error.message)
    text = headline(
        f"{node.op}.backward returned {problem}: {at(place)}", f"{node.op}.backward is wrong at {at(place)}"
    )
    remedy = (
        "Return one gradient for each argument of forward, in their order, with the argument's shape; None for "
        "arguments that need none."
    )
    return Finding(
        "wrong return", "error", text, tuple(lines), remedy, place, position, step.index, node.id, None, others
    )


def _short_problem(message: str) -> str:
    if "incorrect number of gradients" in message:
        numbers = re.search(r"expected (\d+), got (\d+)", message)
        return (
            f"{count(int(numbers[2]), 'gradient')} instead of {numbers[1]}"
            if numbers
            else "too few or too many gradients"
        )
    if "invalid gradient" in message and "shape" in message:
        return "a gradient of a wrong shape"
    return "a gradient that does not fit"


def returned_at(program: Program, name: str) -> Place | None:
    """Where the backward of a Function returns; None if its source was not recorded."""
    for file, tree in program.trees:
        for cls in ast.walk(tree):
            if not isinstance(cls, ast.ClassDef) or cls.name != name:
                continue
            for function in cls.body:
                if isinstance(function, ast.FunctionDef) and function.name in ("backward", "vjp"):
                    returns = [one for one in ast.walk(function) if isinstance(one, ast.Return)]
                    return place_in(program.recording, file, returns[-1] if returns else function, f"{name}.backward")
    return None


# Hooks, and everything else


def _hook_in(program: Program, message: str) -> str | None:
    """The hook that a message of the engine's is about, by its name."""
    if not re.match(r"hook |expected Variable, but hook", message):
        return None
    if found := re.match(r"hook '(.+?)'", message):
        return found[1]
    recording = program.recording
    names = {name for tensor in recording.tensors for name in tensor.hooks}
    names |= {name for node in recording.nodes for name in node.hooks}
    return names.pop() if len(names) == 1 else ""


def _hook_returned(program: Program, position: int, hook: str, message: str) -> Finding:
    """A hook that returned something else than a gradient of the same shape and dtype, or None."""
    pass_ = program.recording.passes[position]
    place = hook_at(program, hook) or pass_.place
    text = headline(
        f"The hook {hook or 'of a tensor'} returned what is no gradient, at {at(place)}: {message}",
        f"The hook {hook or 'of a tensor'} returned what is no gradient, at {at(place)}",
        f"A hook returned what is no gradient, at {at(place)}",
    )
    remedy = "Return a tensor of the gradient's shape and dtype, or None to leave the gradient as it is."
    last = pass_.steps[-1] if pass_.steps else None  # the hook ran after it
    step, node = (last.index, last.node) if last is not None else (None, None)
    return Finding("hook failed", "error", text, (f"{message}.",), remedy, place, position, step, node)


def _raised(program: Program, position: int, step: BackwardStep | None, error: ErrorRecord) -> Finding:
    """An exception of the user's own code in backward, or one that has no cause of its own here."""
    pass_ = program.recording.passes[position]
    place = dict(error.places).get("raised")
    node = program.node(step.node) if step is not None else None
    function = place.function.rpartition(".")[2] if place is not None else ""
    message = first_sentence(error.message) or error.type
    is_the_engine = place is None or (pass_.place is not None and place[:2] == pass_.place[:2])
    if is_the_engine and (hook := _hook_in(program, error.message)) is not None:
        return _hook_returned(program, position, hook, message)
    kind: FindingKind = "failed"
    what = f"{pass_.kind}() failed"
    if place is not None and node is not None and node.kind == "function" and function in ("backward", "vjp"):
        what = f"{node.op}.backward raised"
    elif place is not None and place != pass_.place and function != "<module>":
        kind, what = "hook failed", f"The hook {place.function} raised"
    text = headline(f"{what} {error.type} at {at(place)}: {message}", f"{what} {error.type} at {at(place)}")
    lines = [f"{error.type}: {message}."]
    if node is not None:
        lines.append(
            f"This was step {step.index + 1 if step else 1} of backward, at {program.name(node.id)} ({node.op})."
        )
    remedy = _advice(error.message)
    return Finding(
        kind, "error", text, tuple(lines), remedy, place or (node.place if node is not None else pass_.place), position,
        step.index if step is not None else None, node.id if node is not None else None,
    )  # fmt: skip


def _advice(message: str) -> str:
    """What to do about an exception that has no cause of its own here."""
    if "not have been used in the graph" in message:
        return UNUSED
    if "Recomputed values" in message or "different number of tensors was saved" in message:
        return (
            "A checkpoint runs its function again in backward, and it did something else: it must read nothing that "
            "changes in between, such as a counter, a list or a tensor that is written to."
        )
    return "The traceback shows the calls that led there, and the stepper the numbers of this moment."


def _line(place: Place | None) -> str:
    return place.at_line if place is not None else "a line that was not recorded"


_CAUSES: Mapping[str, Callable[[Program, int, BackwardStep, ErrorRecord], Finding]] = {
    "ModifiedInPlaceError": _overwritten,
    "DetachedInPlaceError": _overwritten,
    "FreedGraphError": freed,
    "GradientError": _wrong_return,
}
_BY_WORDING: Mapping[str, Callable[[Program, int, BackwardStep, ErrorRecord], Finding]] = {  # of a plain RuntimeError
    "modified by an inplace operation": _overwritten,
    "through the graph a second time": freed,
    "returned an incorrect number of gradients": _wrong_return,
    "returned an invalid gradient": _wrong_return,
    "expected Variable or None (got ": _wrong_return,
}
