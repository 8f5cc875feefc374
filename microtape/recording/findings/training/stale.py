"""Optimisers that keep tensors which the program has replaced, in the middle of training, by new ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.training.steps import optimizer_at, replaced_later
from microtape.recording.findings.wording import at, headline, join
from microtape.recording.model.model import Place, TensorRecord
from microtape.recording.model.source import (
    assignments,
    expression,
    function_around,
    only_assignment,
    place_in,
    text_of,
)

_FEWEST = 2  # passes that reach the new tensors before the last such step


class _Stale(NamedTuple):
    """A leaf that an optimiser has updated and still steps, and one of the same name that gets its gradients."""

    old: TensorRecord
    new: TensorRecord
    position: int  # of the first pass after which the old one was stepped in vain
    step: Place


def stale_steps(program: Program) -> Iterator[Finding]:
    """A finding for the leaves of an optimiser that others, of the same names, have replaced, which nothing updates."""
    if program.assigns_gradients:
        return
    learned: dict[tuple[str, tuple[int, ...]], TensorRecord] = {}
    others: dict[tuple[str, tuple[int, ...]], list[TensorRecord]] = {}
    for number in program.accumulations:
        leaf = program.recording.tensors[number]
        if leaf.name and number in program.updated:
            learned[leaf.name, leaf.shape] = leaf
        elif leaf.name:
            others.setdefault((leaf.name, leaf.shape), []).append(leaf)
    pairs = [(learned[key], several) for key, several in others.items() if key in learned]
    found = [one for old, several in pairs if (one := _stale(program, old, several)) is not None]
    if found:
        yield _finding(program, found)


def _stale(program: Program, old: TensorRecord, others: Sequence[TensorRecord]) -> _Stale | None:
    """What shows that a leaf was replaced: from some step on, each comes after passes that reach others alone.

    A recording does not keep all steps that leave a leaf as it was, so that one of them has to do.
    """
    passes = program.recording.passes
    ours = {passes[i].index for i, _ in program.accumulations[old.id]}
    theirs = {passes[i].index: (i, one) for one in others for i, _ in program.accumulations[one.id]}
    last = max(ours)
    if not theirs or min(theirs) < last:
        return None
    updates = [one for one in program.updated[old.id] if one.place is not None and one.passes > last + 1]
    steps = [one for one in updates if ".step(" in expression(program.recording, one.place)]
    late = [one for one in steps if one.passes - 1 in theirs]
    if not late or len(late) < len(steps) or late[0].place is None:
        return None
    if sum(one < late[-1].passes for one in theirs) < _FEWEST:
        return None
    position, new = theirs[min(theirs)]
    lines = {passes[i].place for i, _ in program.accumulations[old.id]}
    return _Stale(old, new, position, late[0].place) if passes[position].place in lines else None


def _finding(program: Program, found: list[_Stale]) -> Finding:
    first = found[0]
    step, names = first.step, [one.old.name for one in found]
    what, where = expression(program.recording, step), at(step)
    made = _replacing(program, first, optimizer_at(program.recording, step))
    at_made = f": {at(made)} has replaced {'it' if len(names) == 1 else 'them'}" if made is not None else ""
    have = "has" if len(names) == 1 else "have"
    text = headline(
        f"{what} at {where} still updates the old {join(names, 2)}{at_made}",
        f"{what} at {where} still updates old tensors{at_made.replace('it', 'them')}",
        f"The step at {where} still updates old tensors{at_made.replace('it', 'them')}",
        f"The step at {where} still updates old tensors",
    )
    remedy = (
        "Keep the tensors, and write into them: load_state_dict for a module, `with no_grad(): w.copy_(...)` for one. "
        "Else make the optimiser anew."
    )
    if "assign=True" in expression(program.recording, made):
        remedy = "Load without assign=True, which writes into the tensors that are there. Else make the optimiser anew."
    backward = program.steps[first.position].get(first.new.node) if first.new.node is not None else None
    return Finding(
        "no update", "error", text,
        (f"From {program.pass_name(first.position)} on, the loss is computed with other tensors of these names: they "
         f"get the gradients, and no update.",
         f"{what} updates those that {join(names, 6)} {have} been before."),
        remedy,
        made or step, first.position, backward.index if backward is not None else None, first.new.node, first.new.id,
        (("updated", step),),
    )  # fmt: skip


def _replacing(program: Program, stale: _Stale, optimizer: str) -> Place | None:
    """The only statement that replaces the leaf, or a module around it, but for what is made before the optimiser."""
    parts = stale.old.name.split(".")
    owners = {".".join(parts[i:j]) for i in range(len(parts)) for j in range(i + 1, len(parts))}
    anew = only_assignment(program.recording, optimizer) if optimizer else None
    found = []
    for one in assignments(program.recording, stale.step.file):
        target, place = text_of(one.targets[0]).removeprefix("self."), place_in(program.recording, stale.step.file, one)
        is_parameter = target.rpartition(".")[2] == parts[-1] and "Parameter(" in text_of(one.value)
        if (target in owners or is_parameter) and not _comes_first(program, place, anew):
            found.append(place)
    if len(found) > 1:  # a class makes its parameters once, in __init__
        found = [one for one in found if not _is_in_init(program, one)]
    if not found:
        return replaced_later(program.recording, stale.old.name, stale.step)
    return found[0] if len(found) == 1 else None


def _comes_first(program: Program, place: Place, later: Place | None) -> bool:
    """Whether a statement stands before another one of the same function, or outside of all functions as that does."""
    if later is None or place.file != later.file or place.line > later.line:
        return False
    text = program.recording.sources.get(place.file, "")
    return function_around(text, place.line) is function_around(text, later.line)


def _is_in_init(program: Program, place: Place) -> bool:
    around = function_around(program.recording.sources.get(place.file, ""), place.line)
    return around is not None and around.name == "__init__"
