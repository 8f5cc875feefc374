"""Tensors that are taken for copies of a parameter, and share its memory: each update changes them, too."""

from __future__ import annotations

import re
from collections.abc import Iterator

from microtape.recording.findings.finding import Finding
from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import at, headline
from microtape.recording.model.model import AliasUseRecord, Place
from microtape.recording.model.source import expression, holders, is_installed, two_names

_OLD = {"backup", "before", "best", "init", "initial", "old", "orig", "original", "prev", "previous", "saved",
        "snapshot"}  # fmt: skip
_RESULTS = {"equal": "True", "allclose": "True", "isclose": "True everywhere", "eq": "True everywhere",
            "ne": "False everywhere", "not_equal": "False everywhere", "sub": "0 everywhere", "dist": "0",
            "l1_loss": "0", "mse_loss": "0"}  # fmt: skip
_STATE = "state_dict"
_COPYING = ("copy", "load_state_dict")
_SHORT = 40  # characters of an expression


def taken_for_copies(program: Program) -> Iterator[Finding]:
    """One finding for each line that makes such a tensor, if a use shows that it was meant to be a copy.

    It is compared with the parameter, or copied into it; or the name of its variable says that it holds old numbers.
    """
    told: set[object] = set()
    for one in sorted(program.recording.alias_uses, key=lambda one: not one.is_with_itself):
        source = one.made or one.tensor
        if one.place is None or source in told or is_installed(one.made) or is_installed(one.place):
            continue
        found = _of_one_tensor(program, one) if one.made is None else _of_an_alias(program, one)
        if found is not None:
            told.add(source)
            yield found


def _of_an_alias(program: Program, use: AliasUseRecord) -> Finding | None:
    recording = program.recording
    if use.made is None or use.place is None:
        return None
    made, used = (expression(recording, place) for place in (use.made, use.place))
    text, position = recording.sources.get(use.made.file, ""), use.made[1:5]
    name, is_alone = holders(text).get(position, ("", False))
    if not made or not used or not (use.is_with_itself or _is_old(name)):
        return None
    is_state = _STATE in made
    owner = "the weights" if is_state else recording.tensors[use.tensor].name or "the leaf"
    kept = name or made
    written = _write(program, use.written)
    shares = f"{made} at {at(use.made)} shares the memory of {owner}: no numbers are copied."
    if not use.is_with_itself:
        told = headline(
            f"{kept} is no copy of {owner}: each update changes both", f"{kept} is no copy, but the same memory"
        )
        effect = f"{written} changed both, and {used} at {at(use.place)} uses the new numbers."
    elif use.op.strip("_") in _COPYING:
        told = headline(f"{kept} is no copy: {used} changes nothing", f"{kept} is no copy, and restores nothing")
        effect = f"{written} changed both, so {used} at {at(use.place)} copies the numbers onto themselves."
    else:
        told = headline(
            f"{kept} is no copy of {owner}: {used} compares it with itself",
            f"{kept} is no copy: {used} compares {owner} with itself",
            f"{kept} is no copy of {owner}, with which it is compared",
            f"{kept} is no copy, but the same memory",
        )
        effect = f"{written} changed both, so {used} at {at(use.place)} is {_result(use)}."
    copied = f"copy.deepcopy({made})" if is_state else f"{made}.clone()"
    remedy = f"Keep a copy: {name} = {copied}." if is_alone else f"Keep a copy: {copied}."
    return _finding(program, use, told, (shares, effect), remedy)


def _of_one_tensor(program: Program, use: AliasUseRecord) -> Finding | None:
    """`before = layer.weight`; after the update, `equal(before, layer.weight)`."""
    used = expression(program.recording, use.place)
    names = two_names(used)
    if names is None or not any(one.change != 0 for one in program.updated.get(use.tensor, ())):
        return None
    one, other = names
    owner = program.recording.tensors[use.tensor].name or "one leaf"
    text = headline(
        f"{one} and {other} are the same tensor: {used} compares it with itself",
        f"{one} and {other} are the same tensor",
    )
    lines = (f"Both are {owner}, which each update changes: {used} at {at(use.place)} is {_result(use)}.",)
    return _finding(program, use, text, lines, f"Keep a copy before the update: {one}.detach().clone().")


def _finding(program: Program, use: AliasUseRecord, text: str, lines: tuple[str, ...], remedy: str) -> Finding:
    roles = (("written", use.written), ("used", use.place if use.made is not None else None))
    others = tuple((role, place) for role, place in roles if place is not None)
    leaf = program.recording.tensors[use.tensor]
    return Finding(
        "written through a view", "warning", text, lines, remedy, use.made or use.place, None, None, leaf.node,
        leaf.id, others,
    )  # fmt: skip


def _write(program: Program, place: Place | None) -> str:
    """What has written into the memory: `optimizer.step() at train.py:12`."""
    text = expression(program.recording, place)
    return f"{text if 0 < len(text) <= _SHORT else 'The write'} at {at(place)}" if place is not None else "An update"


def _result(use: AliasUseRecord) -> str:
    return _RESULTS.get(use.op.strip("_"), "that of a tensor and itself")


def _is_old(name: str) -> bool:
    """Whether a name says that what it holds stays as it was: `best_state`, `w_old`, `weightsBefore`."""
    words = re.findall(r"[a-z]+|[A-Z][a-z]*", name.rpartition(".")[2])
    return any(one.lower() in _OLD for one in words)
