"""Results that one pass carries into the graph of the next: their names, and how to cut them off."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from microtape.recording.findings.program import Program
from microtape.recording.findings.wording import join
from microtape.recording.model.model import Pass

_ITEM = re.compile(r"[^\W\d]\w*\[\d+\]")  # of a tuple: `state[1]`


def at_a_name(program: Program, pass_: Pass, user: int, old: int) -> tuple[int, int]:
    """The same, or its neighbour that hands on a result with a name, such as the state that an RNN returned last."""
    evaluated = set(pass_.nodes)
    users = [one for one in program.users(user) if one in evaluated]
    if users and _is_named(program, user) and not _is_named(program, old):
        return users[0], user
    return user, old


def detached(program: Program, carried: Sequence[int]) -> str:
    """How to cut results off: `use h.detach() and c.detach()`, or one line for all items of a tuple."""
    named = [one for one in carried if not program.name(one).startswith("%")]
    carried = named or carried
    names = list(dict.fromkeys(map(program.name, carried)))
    owners = {one.rpartition("[")[0] for one in names if _ITEM.fullmatch(one)}
    if len(names) > 1 and len(owners) == 1 and all(map(_ITEM.fullmatch, names)):
        (owner,) = owners
        return f"write `{owner} = tuple(one.detach() for one in {owner})`"
    tensors = [program.tensor_of(program.node(one)) for one in carried]
    are_numbers = all(one is not None and math.prod(program.recording.tensors[one].shape) == 1 for one in tensors)
    number = " (or .item() for a number to print or to add up)" if are_numbers else ""
    return f"use {join([f'{one}.detach()' for one in names])}{number}"


def _is_named(program: Program, node: int) -> bool:
    tensor = program.tensor_of(program.node(node))
    return tensor is not None and bool(program.recording.tensors[tensor].names)
