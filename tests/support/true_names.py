"""Programs in whose functions variables come and go, and what their variables have held, as a debugger sees it."""

from __future__ import annotations

import contextlib
import linecache
import sys
from collections.abc import Iterator
from itertools import count
from typing import Any

from hypothesis import strategies as st

from microtape.recording.model.model import Recording
from microtape.recording.model.source import expression

HEAD = """\
import {module} as mt
import {module}.nn.functional as F


def pair(a, b):
    both = a * b
    return both.tanh(), (a - b).sigmoid()


def nested(a):
    return (a.tanh(), [-a, a + 1]), 0.5


def halved(a):
    half = a * 0.5
    half.add_(0.1)
    return half


def run(p, q):
"""
TAIL = """
w = mt.tensor([[0.1, -0.2, 0.3], [0.4, -0.5, 0.6], [0.2, 0.7, -0.1]], requires_grad=True)
run(w * 2, w - 1).sum().backward()
"""
_numbers = count()


class Held:
    """The variables that have held each tensor. It has no `__dict__`, in which a recorder would find the tensors."""

    __slots__ = ("names", "tensors")

    def __init__(self) -> None:
        self.names: dict[int, set[str]] = {}
        self.tensors: list[Any] = []

    def look(self, variables: dict[str, Any]) -> None:
        """Note what these variables hold now."""
        for name, value in [*variables.items()]:
            self._note(name, value)
            if type(value) in (list, tuple, dict):
                for key, one in value.items() if type(value) is dict else enumerate(value):
                    self._note(f"{name}[{key!r}]", one)

    def _note(self, name: str, value: Any) -> None:
        if hasattr(type(value), "requires_grad"):
            self.tensors.append(value)
            self.names.setdefault(id(value), set()).add(name)


def program(lines: list[str], module: str) -> tuple[str, str]:
    """A script whose function `run` has these lines, and the name under which its source is found."""
    text = HEAD.format(module=module) + "".join(f"    {line}\n" for line in lines) + TAIL
    file = f"<variables {next(_numbers)}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    return text, file


def run(lines: list[str], module: str, recorder: Any, held: Held | None = None) -> Recording:
    """Record the program; with `held`, note after each line what its variables hold."""
    text, file = program(lines, module)

    def trace(frame: Any, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != file:
            return None
        assert held is not None
        held.look(frame.f_locals)
        return trace

    before = sys.gettrace()
    with recorder, contextlib.suppress(RuntimeError):  # a write may have changed what was saved
        if held is not None:
            sys.settrace(trace)
        try:
            exec(compile(text, file, "exec"), {})
        finally:
            sys.settrace(before)
    found: Recording = recorder.recording
    return found


def results(recording: Recording) -> dict[str, tuple[str, ...]]:
    """The names of what an expression gave: those of the outputs of the first node that was made there."""
    found: dict[str, tuple[str, ...]] = {}
    for node in recording.nodes:
        if node.place is not None:
            outputs = [recording.tensors[ref.tensor].name if ref is not None else "" for ref in node.outputs]
            found.setdefault(expression(recording, node.place), tuple(outputs))
    return found


def untrue(recording: Recording, tape: Any, tensor_of: Any, held: Held) -> Iterator[str]:
    """The names in a recording that the program's variables never had for that tensor.

    In `h[0] += 1`, the view is called `h[0]`, which no variable holds.
    """
    for record, entry in zip(recording.tensors, tape.tensors, strict=True):
        tensor = tensor_of(entry)
        if tensor is not None and id(tensor) in held.names:
            yield from (
                f"{name} for {held.names[id(tensor)]}" for name in record.names if name not in held.names[id(tensor)]
            )
        elif tensor is not None and record.names and "[" not in record.names[0] and not record.is_leaf:
            yield f"{record.names} for a value of none"


# Random programs

_old = st.sampled_from("pqrst")
_new = st.sampled_from("pqrst")
_TEMPLATES = [
    "{n} = {a} * {b}",
    "{n} = {a}",
    "{n} = {a}.tanh()",
    "{n} = -{a}",
    "{n} = F.softmax({a}, -1)",
    "{n} = F.layer_norm({a}, (3,)) + mt.sigmoid({b})",
    "{n} = {a}[0, None, None] + {b}; {n} = {n}[0]",
    "{n} = {a}[None, None]; {n} = {n}[0, 0]",
    "{n} = sum([{a}, {b}])",
    "{n} = halved({a})",
    "{n}, {m} = pair({a}, {b})",
    "({n}, {m}s), k = nested({a}); {n} = {n} * {m}s[0]; {m} = {m}s[1] + k",
    "{n}, {m} = mt.cat([{a}, {b}]).chunk(2)",
    "{n}, {m} = {m}, {n}",
    "{n}, *rest = mt.stack([{a}, {b}, {a}]).unbind(0); {m} = rest[0] * rest[1]",
    "{n}, _ = mt.stack(({a}, {b})).max(dim=0)",
    "{n}, {n} = mt.stack(({a}, {b})).unbind(0)",
    "{n} = {a} + {b}; {n}.mul_(0.5)",
    "{n} = {a} + {b}; {m} = {n}.sub_(1)",
    "{n} = {a} + {b}; {n} += {b}",
    "{n} = {a} + 1; {m} = {n}; {m} *= 0.5",
    "{n} = {a} + {b}; {n}[{n} > 1] = 0",
    "{n} = mt.zeros(3, 3); {n}[0] = {a}[1]; {n}[1] += {b}[2]",
    "{n} = {a} * 1; row = {n}[0]; row.mul_(2)",
    "{n} = mt.zeros(3, 3); row = {n}[1:]; row[0] = {a}[2]",
    "for {n}, {m} in zip([{a}.exp(), {b}], [{b}, {a} - 1]):;     t = t + {n} * {m}",
    "for {n} in mt.stack([{a}, {b}]):;     t = t * {n}",
    "t = t + sum([one * {a} for one in [{a}, {b}.tanh()]])",
    "{n}, {m} = {a}.exp(), {b} * {n}",
    "{n}, {n} = {a} * {b}, {b} + 1",
    "({n}, {m}), k = ({a} * 2, -{b}), {a}.tanh(); {n} = {n} * k",
    "{n} = {m} = {a} - {b}",
    "k = ({n} := {a} * {b}) + 1; {m} = k * 2",
    "d = {{'k': {a}}}; d['k'] = {b} * 3; {n} = d['k'] + 1",
    "{n} = {m} = mt.zeros(3, 3); {m}[1] = {a}[0]",
    "k = mt.ones(3, 3); k[1:] = {a}[1:]; k[0] *= {b}[1]; {n} = k",
    "k = mt.ones(3, 3)[:2]; k[1:] = {a}[1:2]; {n} = {n} + k[0]",
    "{n} = (lambda x: x * {a})({b})",
    "f = mt; {n} = f.relu({a}) * {b}",
]
statements = st.builds(
    lambda template, n, m, a, b: template.format(n=n, m=m, a=a, b=b),
    st.sampled_from(_TEMPLATES),
    _new,
    _new,
    _old,
    _old,
)
programs = st.lists(statements, min_size=1, max_size=8).map(
    lambda several: [
        "r, s, t = p * q, q.tanh(), p - q",
        *(line for one in several for line in one.split("; ")),  # a debugger stops at each
        "return p + q + r + s + t",
    ]
)
