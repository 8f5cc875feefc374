"""Rows: activations with a gate, patches, distances and losses with margins."""

from __future__ import annotations

from tests.parity_ops.inputs import exactly, fixed, real
from tests.parity_ops.rows import each_shape, row

for name in ["mish", "hardswish", "hardsigmoid", "softsign"]:
    twice = name != "hardsigmoid"  # torch does not differentiate that a second time
    call = lambda mt, x, n=name: getattr(mt.nn.functional, n)(x)  # noqa: E731
    each_shape(name, call, real, twice=twice)
    row(f"{name} far out", call, exactly([-30.0, -2.9, 0.0, 3.5, 30.0]), twice=twice)
    if name != "softsign":
        row(
            f"{name} in place",
            lambda mt, x, n=name: getattr(mt.nn.functional, n)(x * 1, inplace=True),
            real(3),
            in_place=True,
            twice=twice,
        )
row("rms_norm", lambda mt, x: mt.nn.functional.rms_norm(x, (4,)), real(3, 4))
row("rms_norm affine", lambda mt, x, w: mt.nn.functional.rms_norm(x, (2, 3), w, 0.1), real(2, 2, 3), real(2, 3))
row("unfold", lambda mt, x: mt.nn.functional.unfold(x, 2), real(2, 3, 4, 5))
row(
    "unfold strided",
    lambda mt, x: mt.nn.functional.unfold(x, (2, 3), dilation=2, padding=(1, 2), stride=2),
    real(1, 2, 5, 6),
)
row("unfold one picture", lambda mt, x: mt.nn.functional.unfold(x, 3), real(2, 4, 4), node=False)
row("fold", lambda mt, x: mt.nn.functional.fold(x, (4, 5), 2), real(2, 12, 12))
row("fold strided", lambda mt, x: mt.nn.functional.fold(x, (4, 4), 2, stride=2), real(1, 4, 4))
row("fold one picture", lambda mt, x: mt.nn.functional.fold(x, 3, 2), real(4, 4), node=False)
row("pairwise_distance", lambda mt, x, y: mt.nn.functional.pairwise_distance(x, y), real(3, 4), real(3, 4), node=False)
for reduction in ["mean", "sum", "none"]:
    row(
        f"triplet_margin_loss {reduction}",
        lambda mt, x, y, z, r=reduction: mt.nn.functional.triplet_margin_loss(x, y, z, reduction=r),
        *[real(3, 4)] * 3,
        node=False,
    )
    row(
        f"margin_ranking_loss {reduction}",
        lambda mt, x, y, t, r=reduction: mt.nn.functional.margin_ranking_loss(x, y, t, 0.3, reduction=r),
        real(3),
        real(3),
        fixed([1.0, -1.0, 1.0]),
        node=False,
    )
    row(
        f"hinge_embedding_loss {reduction}",
        lambda mt, x, t, r=reduction: mt.nn.functional.hinge_embedding_loss(x, t, reduction=r),
        real(3),
        fixed([1, -1, -1]),
        node=False,
    )
    row(
        f"cosine_embedding_loss {reduction}",
        lambda mt, x, y, t, r=reduction: mt.nn.functional.cosine_embedding_loss(x, y, t, 0.1, reduction=r),
        real(3, 4),
        real(3, 4),
        fixed([1, -1, 1]),
        node=False,
    )
row(
    "triplet_margin_loss swap",
    lambda mt, x, y, z: mt.nn.functional.triplet_margin_loss(x, y, z, 2.0, swap=True),
    *[real(3, 4)] * 3,
    node=False,
)

WRONG_WINDOWS = {
    "kernel": (0, 1, 0, 1),
    "dilation": (2, (1, 0), 0, 1),
    "padding": (2, 1, -1, 1),
    "stride": (2, 1, 0, 0),
}
for name, given in WRONG_WINDOWS.items():
    row(f"wrong: unfold {name}", lambda mt, x, w=given: mt.nn.functional.unfold(x, *w), real(1, 1, 4, 4), smooth=False)
    row(f"wrong: fold {name}", lambda mt, x, w=given: mt.nn.functional.fold(x, 4, *w), real(1, 4, 9), smooth=False)
row("wrong: unfold too small", lambda mt, x: mt.nn.functional.unfold(x, 3), real(1, 1, 2, 2), smooth=False)
row("wrong: unfold of five", lambda mt, x: mt.nn.functional.unfold(x, 3), real(1, 1, 1, 2, 2), smooth=False)
row("wrong: fold patches", lambda mt, x: mt.nn.functional.fold(x, 4, 2), real(1, 4, 5), smooth=False)
row("wrong: fold rows", lambda mt, x: mt.nn.functional.fold(x, 4, 2), real(1, 5, 9), smooth=False)
row("wrong: fold a vector", lambda mt, x: mt.nn.functional.fold(x, 4, 2), real(5), smooth=False)
row("wrong: rms_norm weight", lambda mt, x, w: mt.nn.functional.rms_norm(x, (3,), w), real(2, 3), real(2), smooth=False)
row(
    "cosine_similarity of short vectors",
    lambda mt, x, y: mt.nn.functional.cosine_similarity(x, y, -1, eps=2.0),
    real(4, 2),
    real(4, 2),
    node=False,
    smooth=False,
    twice=False,
)
row("wrong: glu of a number", lambda mt, x: mt.nn.functional.glu(x), real(), smooth=False)
row(
    "cosine_similarity, broadcast",
    lambda mt, x, y: mt.nn.functional.cosine_similarity(x, y, -1),
    real(4),
    real(2, 1),
    node=False,
)
row(
    "rms_norm of large halves",
    lambda mt, x: mt.nn.functional.rms_norm(x.half() * 300, (4,)),
    real(3, 4),
    smooth=False,
)
