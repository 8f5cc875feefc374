"""Forward mode: dual levels, and what can be done with a dual tensor."""

from __future__ import annotations

from tests.parity.random.writer import MOST_TENSORS, Writer

LEVEL = "with fw.dual_level():"


def make(w: Writer) -> None:
    """A dual tensor."""
    x = w.tensor()
    # NB: an in-place operation would write twice into a tangent that has its primal's memory
    alike = [name for name in w.alike(x) if not w.share_memory(name, x)] or [f"{x}.detach().clone()"]
    tangent = w.choice(alike) if w.chance(0.3) else w.like(x)
    w.do(f"{w.new('d')} = fw.make_dual({x}, {tangent})")


def unpack(w: Writer) -> None:
    """The parts of a dual tensor."""
    w.do(f"{w.new()}, {w.new()} = fw.unpack_dual({w.tensor()})")


def level(w: Writer) -> None:
    """A level with a dual tensor, and statements that use it."""
    if w.is_inside(LEVEL):
        if len(w.names()) < MOST_TENSORS:
            w.choice([make, unpack])(w)
        return

    def body() -> None:
        make(w)
        w.body(w.choice([2, 3, 5, 7]))

    w.within(LEVEL, body)


STATEMENTS = [(6, level)]
