"""Optimisers that were given the parameters of another network, which has an optimiser already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from itertools import groupby, permutations
from typing import NamedTuple

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.training.steps import optimizer_at
from microtape.recording.findings.wording import at, headline, join
from microtape.recording.model.model import Place
from microtape.recording.model.source import only_assignment


class _Optimizer(NamedTuple):
    """What an optimiser does, as its steps tell."""

    name: str
    place: Place  # of its step
    leaves: frozenset[int]
    steps: tuple[int, ...]  # how many passes had begun before each of them


def twice_given(program: Program) -> Iterator[Finding]:
    """One finding for two optimisers that step in turn on the same leaves, while others get gradients and no update.

    The wrong one is that which steps after passes that all reach the others: the loss of an actor goes through its
    critic, and of the optimisers that have the critic, it is the actor's that lacks its own leaves. If both do, it is
    taken for the later one, as that of a generator. In phases, one after the other, both may well have the same leaves.
    """
    missed = _missed(program)
    for wrong, other in permutations(_optimizers(program), 2) if missed else ():
        if wrong.name == other.name or not wrong.leaves <= other.leaves or not _take_turns(wrong, other):
            continue
        reached = _reached_before(program, wrong, other, missed.keys())
        if reached and (wrong.place.line > other.place.line or not _reached_before(program, other, wrong, reached)):
            yield _finding(program, wrong, other, {leaf: at for leaf, at in missed.items() if leaf in reached})
            return


def _missed(program: Program) -> Mapping[int, int]:
    """Maps the leaves that got gradients in several passes, and no update, to the position of the first."""
    ways = program.accumulations.items()
    is_missed = {leaf for leaf, way in ways if len(way) > 1} - program.updated.keys() - program.asked
    return {leaf: way[0][0] for leaf, way in ways if leaf in is_missed}


def _optimizers(program: Program) -> list[_Optimizer]:
    """The optimisers that step in a line of their own."""
    found: dict[Place, tuple[set[int], set[int]]] = {}
    for one in program.recording.updates:
        if one.place is not None:
            leaves, steps = found.setdefault(one.place, (set(), set()))
            leaves.add(one.tensor)
            steps.add(one.passes)
    return [
        _Optimizer(name, place, frozenset(leaves), tuple(sorted(steps)))
        for place, (leaves, steps) in found.items()
        if (name := optimizer_at(program.recording, place))
    ]


def _take_turns(one: _Optimizer, other: _Optimizer) -> bool:
    """Whether each steps before and after the other."""
    steps = sorted([(step, one.name) for step in one.steps] + [(step, other.name) for step in other.steps])
    return len(list(groupby(steps, key=lambda step: step[1]))) > 2


def _reached_before(program: Program, one: _Optimizer, other: _Optimizer, leaves: Set[int]) -> set[int]:
    """The leaves, of some, that get a gradient in all passes before the steps of an optimiser, since the last step."""
    steps = sorted({*one.steps, *other.steps})
    own = [
        position
        for position, pass_ in enumerate(program.recording.passes)
        if next((step for step in steps if step > pass_.index), None) in one.steps
    ]
    ways = program.accumulations
    return {leaf for leaf in leaves if own and {*own} <= {position for position, _ in ways[leaf]}}


def _finding(program: Program, wrong: _Optimizer, other: _Optimizer, missed: Mapping[int, int]) -> Finding:
    names = [program.tensor_name(leaf) for leaf in missed]
    theirs = [program.tensor_name(leaf) for leaf in sorted(wrong.leaves)]
    text = headline(
        f"{wrong.name} was given {other.name}'s leaves: nothing updates {join(names, 3)}",
        f"{wrong.name} was given {other.name}'s leaves: nothing updates {names[0]}",
        f"{wrong.name} was given the leaves of another optimiser",
        f"The optimiser of {at(wrong.place)} was given the leaves of another one",
    )
    leaf, position = next(iter(missed.items()))
    node = program.recording.tensors[leaf].node
    step = program.steps[position].get(node) if node is not None else None
    lines = [
        f"{join(names, 6)} {'gets' if len(names) == 1 else 'get'} gradients in {program.pass_name(position)}, and "
        "no optimiser has them.",
        f"{at(wrong.place)} and {at(other.place)} both update {join(theirs, 6)}.",
    ]
    if (made := only_assignment(program.recording, other.name)) is not None:
        lines.append(f"{other.name} was made at {at(made)}.")
    place = only_assignment(program.recording, wrong.name) or wrong.place
    remedy = f"Make {wrong.name} from the parameters of the network that it is to train, which has {names[0]}."
    return Finding(
        "no update", "warning", text, tuple(lines), remedy, place, position,
        step.index if step is not None else None, node, leaf, (("updated", wrong.place),),
    )  # fmt: skip
