"""Hooks that are registered anew in each round of a loop, so that they change a leaf's gradient more and more often."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.hooks import hook_at
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.formatting import format_number
from microtape.recording.model.model import BackwardStep, HookCall, Place
from microtape.recording.model.source import is_installed, place_in

_FEWEST = 3  # different numbers of calls, one after the other


def piled_hooks(program: Program) -> Iterator[Finding]:
    """One finding for hooks of one name that become more and more on a leaf, if each scales the gradient once again.

    Such hooks that only look, or that change nothing the second time, as a mask or a clamp, are left alone: one may be
    added for each part of a program.
    """
    for leaf, way in program.accumulations.items():
        last = way[-1][1]
        if len(last.hooks) < _FEWEST:
            continue
        name, _ = Counter(one.name for one in last.hooks).most_common(1)[0]
        counts = [len(_calls(step, name)) for _, step in way]
        different = list(dict.fromkeys(counts))
        if len(different) < _FEWEST or counts != sorted(counts):
            continue
        factor = _factor(_calls(last, name))
        if factor is not None:
            yield _finding(program, leaf, name, counts, factor)
            return


def _calls(step: BackwardStep, name: str) -> list[HookCall]:
    return [one for one in step.hooks if one.name == name and one.kind == "tensor"]


def _factor(calls: Sequence[HookCall]) -> float | None:
    """The number, other than 1, that each call multiplies the gradient by; None if there is none such."""
    factors = set()
    for one in calls:
        before, after = one.before, one.after
        if not isinstance(before, np.ndarray) or not isinstance(after, np.ndarray) or before.shape != after.shape:
            return None
        if not before.size or not (largest := np.abs(before).max()) or not np.isfinite(largest):
            return None
        where = np.unravel_index(np.abs(before).argmax(), before.shape)
        factor = float(after[where] / before[where])
        if not np.allclose(after, np.multiply(before, factor), rtol=1e-4, atol=float(largest) * 1e-6):
            return None
        factors.add(float(f"{factor:.4g}"))
    return factors.pop() if len(factors) == 1 and not factors & {0.0, 1.0} else None


def _finding(program: Program, leaf: int, name: str, counts: Sequence[int], factor: float) -> Finding:
    way = program.accumulations[leaf]
    last, first = counts[-1], counts[0]
    begin = next(i for i, one in enumerate(counts) if one > first)  # where the second one runs for the first time
    position, step = way[begin]
    place = _registered_at(program) or hook_at(program, name)
    called, whose = name.rpartition(".")[2], program.tensor_name(leaf)
    called = "the same lambda" if called == "<lambda>" else called
    scales = f"Each multiplies the gradient by {format_number(factor)}, all together by {format_number(factor**last)}"
    return Finding(
        "hook failed", "warning",
        headline(f"Hooks pile up on {whose}: {last} of them by {program.pass_name(way[-1][0])}",
                 f"Hooks pile up on a leaf: {last} of them by {program.pass_name(way[-1][0])}"),
        (f"In {program.pass_name(way[0][0])}, {called} ran {first} time{'' if first == 1 else 's'} for {whose}; in "
         f"{program.pass_name(way[-1][0])} it ran {last} times: it is registered again and again"
         f"{f' at {at(place)}' if place is not None else ''}, and nothing removes it.",
         f"{scales} in {program.pass_name(way[-1][0])}."),
        "Register it once, before the loop; or keep what register_hook returns, and call its remove() after the pass.",
        place or _first_use(program, step), position, step.index, step.node, leaf,
    )  # fmt: skip


def _first_use(program: Program, step: BackwardStep) -> Place | None:
    """The line of the first operation that used the leaf of a step."""
    users = program.users(step.node)
    return program.node(users[0]).place if users else None


def _registered_at(program: Program) -> Place | None:
    """The only line of the program that registers a hook on a tensor."""
    found = [
        place_in(program.recording, file, one)
        for file, tree in program.trees
        for one in ast.walk(tree)
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "register_hook"
    ]
    own = [one for one in found if not is_installed(one)]
    return own[0] if len(own) == 1 else None
