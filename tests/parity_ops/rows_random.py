"""Rows: chance. From one seed, torch's numbers; for those that depend on the processor, see test_coins."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from tests.parity_ops import rows
from tests.parity_ops.inputs import complex_, exactly, fixed, positive, real
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
SEVERAL = positive(20)
for name, inputs in (
    ("", (SEVERAL, SEVERAL)),
    (" broadcast", (positive(4, 1), positive(3))),
    (" of 0-d", (positive(),) * 2),
):
    row(f"normal mean and std{name}", lambda mt, x, y: seeded(mt, lambda: mt.normal(x, y)), *inputs)
row("normal mean", lambda mt, x: seeded(mt, lambda: mt.normal(x, 0.5)), SEVERAL)
row("normal mean alone", lambda mt, x: seeded(mt, lambda: mt.normal(x)), SEVERAL)
row("normal std", lambda mt, x: seeded(mt, lambda: mt.normal(-1, x)), SEVERAL)
row("normal float std", lambda mt, x, y: seeded(mt, lambda: mt.normal(x, y.float())), SEVERAL, SEVERAL)
row("normal float mean", lambda mt, x, y: seeded(mt, lambda: mt.normal(x.float(), y)), SEVERAL, SEVERAL)
row("normal whole std", lambda mt, x, y: seeded(mt, lambda: mt.normal(x, y)), positive(2), fixed([1, 2]))
row("normal of numbers in tensors", lambda mt, x: seeded(mt, lambda: mt.normal(x, x, (5,))), fixed(2.0))
row("wrong: normal of a complex number", lambda mt: mt.normal(mt.tensor(2 + 1j), 1.0, (2,)))
row("wrong: normal shapes", lambda mt, x, y: mt.normal(x, y), positive(2), positive(3))
row("wrong: normal without a size", lambda mt: mt.normal(1.0, 2.0))
row("wrong: normal with two sizes", lambda mt, x: mt.normal(x, 2.0, (3,)), positive(3))
row("wrong: normal of a list", lambda mt: mt.normal([1.0], 2.0))
row("wrong: normal of text", lambda mt, x: mt.normal("a", x), positive(3))
row("wrong: normal whole mean", lambda mt, x: mt.normal(x, 1.0), fixed([1, 2]))
row("wrong: normal whole means", lambda mt, x, y: mt.normal(x, y), fixed([1, 2]), positive(2))
row("wrong: normal whole std alone", lambda mt, x: mt.normal(0.0, x), fixed([1, 2]))
row("wrong: normal negative", lambda mt, x: mt.normal(x, -0.5), real(2))
row("wrong: normal negative among them", lambda mt, x, y: mt.normal(x, y), real(2), fixed([1.0, -1.0]))
row("wrong: normal of numbers, negative", lambda mt: mt.normal(0.0, -1.0, (2,)))
row("wrong: normal_ negative", lambda mt, x: x.clone().normal_(0, -1), real(2))
row("wrong: normal complex mean", lambda mt, x: mt.normal(x, 1.0), complex_(2))
row("wrong: normal complex std", lambda mt, x: mt.normal(0.0, x), complex_(2))
row(
    "bernoulli_ of tensors",
    lambda mt, x, p: seeded(mt, lambda: x.clone().bernoulli_(p)),
    real(2, 9),
    real(9, low=0.1, high=0.9),
)
row("bernoulli of one probability", lambda mt, x: mt.bernoulli(x, 1.0), real(3))
row("wrong: bernoulli_ shapes", lambda mt, x, p: x.clone().bernoulli_(p), real(2, 2), fixed([0.5, 0.5, 0.5]))
row("wrong: bernoulli_ dimensions", lambda mt, x, p: x.clone().bernoulli_(p), real(2), fixed([[0.5, 0.5], [0.5, 0.5]]))
row("wrong: bernoulli_ whole", lambda mt, x, p: x.clone().bernoulli_(p), real(2), fixed([0, 1]))
row("wrong: bernoulli_ of 2", lambda mt, x: x.clone().bernoulli_(2.0), real(2))
row("wrong: bernoulli of 1.5", lambda mt, x: mt.bernoulli(x, 1.5), real(2))
row("random_ below", lambda mt, x: seeded(mt, lambda: x.clone().random_(9)), real(20))
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
