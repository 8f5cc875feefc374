"""Mixes the topics: each program has some of them, so that what is rare in a mixture of all is common in some."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from tests.parity.random import forward_mode, functions, hooks, modes, operations, passes, saving
from tests.parity.random.program import Program
from tests.parity.random.session import Seen, quiet
from tests.parity.random.writer import Writer

TOPICS: dict[str, list[tuple[int, Callable[[Writer], None]]]] = {
    "functions": functions.STATEMENTS,
    "hooks": hooks.STATEMENTS,
    "saving": saving.STATEMENTS,
    "modes": modes.STATEMENTS,
    "forward_mode": forward_mode.STATEMENTS,
}
"""The topics that a program may have or not; every program computes, and has passes."""

ALL = tuple(TOPICS)


def write(seed: int, torch: Any, topics: Collection[str] = ALL) -> tuple[Program, list[Seen]]:
    """The program with this number, and what was seen when it ran on torch."""
    w = Writer(seed, torch)
    mixture = [*operations.STATEMENTS, *passes.STATEMENTS]
    for topic in ALL:
        if topic in topics and w.chance(0.4):
            mixture += [(2 * weight, statement) for weight, statement in TOPICS[topic]]
    weights = [weight for weight, _ in mixture]

    def body(count: int) -> None:
        for statement in w.random.choices([one for _, one in mixture], weights, k=count):
            if len(w.headers) > 2 and statement.__module__.endswith(("modes", "saving", "forward_mode")):
                continue
            statement(w)

    w.body = body
    with quiet():
        w.do(f"{w.new()} = {w.fresh(requires_grad=True)}")
        if not w.one_leaf or w.chance(0.3):
            w.do(f"{w.new()} = {w.fresh(requires_grad=w.chance(0.7) and not w.one_leaf)}")
        body(w.choice([6, 10, 14, 18]))
        w.session.end()
    return w.program, w.session.seen
