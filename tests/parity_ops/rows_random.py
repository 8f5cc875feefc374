"""Rows: chance. From one seed, torch's numbers; for those that depend on the processor, see test_coins."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from tests.parity_ops import rows
from tests.parity_ops.inputs import exactly, fixed, positive, real
from tests.parity_ops.rows import row as any_row

row = partial(rows.row, smooth=False)


def seeded(mt: Any, draw: Callable[[], Any]) -> Any:
    """What `draw` gives from a known seed."""
    mt.manual_seed(3)
    return draw()


for count in (5, 16, 40):
    for dtype in ("float32", "float64"):
        for name in ("rand", "randn"):
            row(
                f"{name} {count} {dtype}",
                lambda mt, n=name, c=count, d=dtype: seeded(mt, lambda: getattr(mt, n)(c, dtype=getattr(mt, d))),
            )
row("rand of a generator", lambda mt: mt.rand(3, generator=mt.Generator().manual_seed(5)))
row("randint", lambda mt: seeded(mt, lambda: mt.randint(0, 10, (20,))))
row("randint high", lambda mt: seeded(mt, lambda: mt.randint(7, (4, 5))))
row("randperm", lambda mt: seeded(mt, lambda: mt.randperm(20)))
row("rand_like", lambda mt, x: seeded(mt, lambda: mt.rand_like(x)), real(2, 3))
row("randn_like", lambda mt, x: seeded(mt, lambda: mt.randn_like(x)), real(2, 3))
row("normal", lambda mt: seeded(mt, lambda: mt.normal(1.0, 2.0, (5,))))
row("bernoulli", lambda mt, x: seeded(mt, lambda: mt.bernoulli(x)), real(20, low=0.1, high=0.9))
row("uniform_", lambda mt, x: seeded(mt, lambda: x.clone().uniform_(-1, 2)), real(20))
row("normal_", lambda mt, x: seeded(mt, lambda: x.clone().normal_(-1, 2)), real(20))
row("random_", lambda mt, x: seeded(mt, lambda: x.clone().random_(2, 9)), real(20))
row("exponential_", lambda mt, x: seeded(mt, lambda: x.clone().exponential_(2.0)), real(20))
row("initial_seed", lambda mt: seeded(mt, lambda: mt.tensor(mt.initial_seed())))
row("multinomial", lambda mt, x: seeded(mt, lambda: mt.multinomial(x, 1)), positive(4, 3))
row("multinomial several", lambda mt, x: seeded(mt, lambda: x.multinomial(3)), positive(2, 5))
row("multinomial replaced", lambda mt, x: seeded(mt, lambda: mt.multinomial(x, 20, replacement=True)), positive(2, 5))
row("multinomial of zeros", lambda mt, x: seeded(mt, lambda: mt.multinomial(x, 2)), exactly([0.0, 1.0, 2.0]))
row("wrong: multinomial too many", lambda mt, x: mt.multinomial(x, 4), positive(3))
row("wrong: multinomial none", lambda mt, x: mt.multinomial(x, 0), positive(3))
row("wrong: multinomial negative", lambda mt, x: mt.multinomial(x, 1), fixed([-1.0, 2.0]))
row("wrong: multinomial of zeros", lambda mt, x: mt.multinomial(x, 1), fixed([0.0, 0.0]))
row("wrong: multinomial whole", lambda mt, x: mt.multinomial(x, 1), fixed([1, 2]))
row("wrong: multinomial of three", lambda mt, x: mt.multinomial(x, 1), positive(2, 2, 2))
row("wrong: rand_like whole", lambda mt, x: mt.rand_like(x), fixed([1, 2]))
any_row("dropout of 0", lambda mt, x: mt.nn.functional.dropout(x, 0.0) * 1, real(5))
any_row("dropout of all", lambda mt, x: mt.nn.functional.dropout(x, 1.0), real(5))
any_row("dropout when not training", lambda mt, x: mt.nn.functional.dropout(x, 0.5, training=False) * 1, real(5))
