"""Rows: the mistakes that learners make. What is raised, and its words, are torch's."""

from __future__ import annotations

from functools import partial
from typing import Any

from tests.parity_ops import rows
from tests.parity_ops.inputs import below, fixed, mask, real

row = partial(rows.row, smooth=False, twice=False)
ALONG = "sum mean max argmax softmax cumsum squeeze unsqueeze unbind sort norm var logsumexp any"
CHOOSING = "max min amax amin argmax median"
REDUCING = "sum mean prod var std logsumexp norm any all"
OF_EACH = "exp log sqrt sin tanh sigmoid abs neg"


def assigned(x: Any, key: Any, value: Any) -> Any:
    """`x[key] = value`, as an expression."""
    x[key] = value
    return x


# Shapes that do not fit

row("wrong: add", lambda mt, x, y: x + y, real(2, 3), real(2, 2))
row("wrong: add ranks", lambda mt, x, y: x + y, real(4, 2, 3), real(3, 3))
row("wrong: mul_ would grow", lambda mt, x, y: x.clone().mul_(y), real(3), real(2, 3))
row("wrong: sub_ of a mask", lambda mt, x, y: x.clone().sub_(y), real(3), mask(3))
row("wrong: sub of a mask, scaled", lambda mt, x, y: mt.sub(x, y, alpha=2), real(3), mask(3))
row("wrong: where", lambda mt, m, x, y: mt.where(m, x, y), mask(3), real(2), real(3))
for left, right in (
    ((2, 3), (2, 3)),
    ((2, 3), (2,)),
    ((3,), (2,)),
    ((2,), (3, 2)),
    ((5, 2, 3), (2,)),
    ((5, 2, 3), (4, 3, 2)),
    ((5, 2, 3), (5, 4, 2)),
    ((), (2,)),
):
    row(f"wrong: {left} @ {right}", lambda mt, x, y: x @ y, real(*left), real(*right))
row("wrong: mm of vector", lambda mt, x, y: mt.mm(x, y), real(2, 3), real(3))
row("wrong: bmm of matrix", lambda mt, x, y: mt.bmm(x, y), real(2, 3), real(2, 3, 2))
row("wrong: dot of matrix", lambda mt, x, y: mt.dot(x, y), real(2, 3), real(3))
row("wrong: dot", lambda mt, x, y: mt.dot(x, y), real(2), real(3))
row("wrong: linear", lambda mt, x, w: mt.nn.functional.linear(x, w), real(2, 3), real(4, 2))
row("wrong: linear bias", lambda mt, x, w, b: mt.nn.functional.linear(x, w, b), real(2, 3), real(4, 2), real(4))
row("wrong: reshape", lambda mt, x: x.reshape(4, 2), real(2, 3))
row("wrong: reshape -1", lambda mt, x: x.reshape(-1, 4), real(2, 3))
row("wrong: reshape -1 twice", lambda mt, x: x.reshape(-1, -1), real(2, 3))
row("wrong: view of a transpose", lambda mt, x: x.t().view(6), real(2, 3))
row("wrong: view", lambda mt, x: x.view(4), real(2, 3))
row("wrong: expand", lambda mt, x: x.expand(2, 4), real(2, 3))
row("wrong: expand fewer", lambda mt, x: x.expand(3), real(2, 3))
row("wrong: cat", lambda mt, x, y: mt.cat([x, y]), real(2, 3), real(2, 2))
row("wrong: cat ranks", lambda mt, x, y: mt.cat([x, y]), real(2, 3), real(3))
row("wrong: cat scalars", lambda mt, x: mt.cat([x, x]), real())
row("wrong: cat numbers", lambda mt, x: mt.cat([x, 1.0]), real(2))
row("wrong: stack", lambda mt, x, y: mt.stack([x, y]), real(2), real(3))
row("wrong: stack of none", lambda mt: mt.stack([]))
row("wrong: split sizes", lambda mt, x: x.split([1, 1]), real(3))
row("wrong: t of three", lambda mt, x: x.t(), real(2, 2, 2))
row("wrong: permute", lambda mt, x: x.permute(0, 0), real(2, 3))
row("wrong: permute twice", lambda mt, x: x.permute(0, 1, 1), real(2, 3, 1))
row("wrong: mT of vector", lambda mt, x: x.mT, real(3))
row("wrong: conv2d channels", lambda mt, x, w: mt.nn.functional.conv2d(x, w), real(1, 2, 4, 4), real(1, 3, 2, 2))
row("wrong: conv2d kernel", lambda mt, x, w: mt.nn.functional.conv2d(x, w), real(1, 1, 2, 2), real(1, 1, 3, 3))
row("wrong: conv2d rank", lambda mt, x, w: mt.nn.functional.conv2d(x, w), real(4, 4), real(1, 1, 3, 3))
row("wrong: max_pool2d rank", lambda mt, x: mt.nn.functional.max_pool2d(x, 2), real(4, 4))
row("wrong: max_pool2d padding", lambda mt, x: mt.nn.functional.max_pool2d(x, 2, padding=2), real(1, 1, 4, 4))
row("wrong: max_pool2d small", lambda mt, x: mt.nn.functional.max_pool2d(x, 5), real(1, 1, 4, 4))
row("wrong: layer_norm", lambda mt, x: mt.nn.functional.layer_norm(x, (3,)), real(2, 4))
row("wrong: batch_norm of one", lambda mt, x: mt.nn.functional.batch_norm(x, None, None, training=True), real(1, 4))
row("wrong: glu", lambda mt, x: mt.nn.functional.glu(x), real(3))
row("wrong: group_norm", lambda mt, x: mt.nn.functional.group_norm(x, 2), real(2, 3))
row("wrong: batch_norm", lambda mt, x: mt.nn.functional.batch_norm(x, None, None), real(2, 3))
row("wrong: adaptive_avg_pool2d", lambda mt, x: mt.nn.functional.adaptive_avg_pool2d(x, 2), real(5, 7))
row("wrong: pad reflect", lambda mt, x: mt.nn.functional.pad(x, (3, 0), mode="reflect"), real(1, 2, 3))
row("wrong: pad odd", lambda mt, x: mt.nn.functional.pad(x, (1,)), real(3))
row("wrong: pad many", lambda mt, x: mt.nn.functional.pad(x, (1, 1, 1, 1)), real(3))
row("wrong: pad mode", lambda mt, x: mt.nn.functional.pad(x, (1, 1), mode="mirror"), real(3))
row("wrong: inv", lambda mt, x: mt.linalg.inv(x), real(2, 3))
row("wrong: det", lambda mt, x: mt.linalg.det(x), real(3))
row("wrong: inv singular", lambda mt, x: mt.linalg.inv(x), fixed([[1.0, 2.0], [2.0, 4.0]]))
row("wrong: solve singular", lambda mt, x, y: mt.linalg.solve(x, y), fixed([[1.0, 2.0], [2.0, 4.0]]), real(2))
STACK = fixed([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 2.0], [2.0, 4.0]]])
row("wrong: inv singular in a stack", lambda mt, x: mt.linalg.inv(x), STACK)
row("wrong: solve singular in a stack", lambda mt, x: mt.linalg.solve(x, x), STACK)
row("wrong: cholesky in a stack", lambda mt, x: mt.linalg.cholesky(x - mt.eye(2) / 2), STACK)
row("wrong: cholesky", lambda mt, x: mt.linalg.cholesky(x), fixed([[1.0, 2.0], [2.0, 1.0]]))
for equation in ("ij,jk->il", "ij,jk", "ij->ik", "i,j->ij", "ii->i", "ijk->i", "ij,jk->ii", "ij;jk"):
    row(f"wrong: einsum {equation}", lambda mt, x, y, e=equation: mt.einsum(e, x, y), real(2, 3), real(4, 2))

# Dimensions and indices out of range

for name in ALONG.split():
    row(f"wrong: {name} dim", lambda mt, x, n=name: getattr(x, n)(dim=3), real(2, 3))
row("wrong: sum dims twice", lambda mt, x: x.sum((0, 0)), real(2, 3))
row("wrong: transpose dim", lambda mt, x: x.transpose(0, 2), real(2, 3))
row("wrong: x[3]", lambda mt, x: x[3], real(3))
row("wrong: x[-4]", lambda mt, x: x[-4], real(3))
row("wrong: x[0, 0]", lambda mt, x: x[0, 0], real(3))
row("wrong: 0-d x[0]", lambda mt, x: x[0], real())
row("wrong: x[[3]]", lambda mt, x: x[[3]], real(3))
row("wrong: x[i]", lambda mt, x, i: x[i], real(3), fixed([0, 5]))
row("wrong: x[mask]", lambda mt, x, m: x[m], real(3), mask(2))
row("wrong: x[float]", lambda mt, x, i: x[i], real(3), fixed([1.0]))
row("wrong: x['a']", lambda mt, x: x["a"], real(3), differs="the error for an invalid index lists the valid types")
row("wrong: x[::-1]", lambda mt, x: x[::-1], real(3))
row("wrong: x[i, j]", lambda mt, x, i, j: x[i, j], real(3, 3), below(3, 2), below(3, 3))
row("wrong: x[0] = y", lambda mt, x, y: assigned(x.clone(), 0, y), real(2, 3), real(2))
row("wrong: x[3] = 0", lambda mt, x: assigned(x.clone(), 3, 0), real(3))
row("wrong: x[0] = y on a leaf", lambda mt, x: assigned(x, 0, 1.0), real(3))
row("wrong: gather", lambda mt, x, i: x.gather(1, i), real(2, 3), fixed([[3]]))
row("wrong: gather ranks", lambda mt, x, i: x.gather(1, i), real(2, 3), fixed([0]))
row("wrong: gather floats", lambda mt, x, i: x.gather(1, i), real(2, 3), fixed([[0.0]]))
row(
    "scatter_reduce a part of a larger tensor",
    lambda mt, x, i, y: x.scatter_reduce(0, i, y, "sum"),
    real(3, 2),
    fixed([[2, 0]]),
    real(4, 2),
    differs="the part that was not scattered gets a gradient of 0, where torch fails",
)
row(
    "scatter a part of a larger tensor",
    lambda mt, x, i, y: x.scatter(0, i, y),
    real(3, 2),
    fixed([[2, 0]]),
    real(2, 2),
    differs="the part that was not scattered gets a gradient of 0, where torch fails",
)
row("wrong: index_select", lambda mt, x, i: x.index_select(0, i), real(3), fixed([3]))
row("wrong: index_add", lambda mt, x, i, y: x.index_add(0, i, y), real(3), fixed([0, 1]), real(2, 2))
row("wrong: narrow", lambda mt, x: x.narrow(0, 2, 2), real(3))
row("wrong: select", lambda mt, x: x.select(1, 3), real(2, 3))
row("wrong: topk", lambda mt, x: x.topk(4), real(3))
row("wrong: kthvalue", lambda mt, x: x.kthvalue(0), real(3))
row("wrong: chunk", lambda mt, x: x.chunk(0), real(3))
row("wrong: embedding", lambda mt, i, w: mt.nn.functional.embedding(i, w), fixed([4]), real(3, 2))
row("wrong: nll_loss class", lambda mt, x, t: mt.nn.functional.nll_loss(x, t), real(2, 3), fixed([0, 3]))
row("wrong: cross_entropy class", lambda mt, x, t: mt.nn.functional.cross_entropy(x, t), real(2, 3), fixed([0, 3]))
row("wrong: cross_entropy rows", lambda mt, x, t: mt.nn.functional.cross_entropy(x, t), real(2, 3), fixed([0]))
row("wrong: one_hot", lambda mt, i: mt.nn.functional.one_hot(i, 2), fixed([0, 2]))
for name in CHOOSING.split():
    row(f"wrong: {name} of nothing", lambda mt, x, n=name: getattr(x, n)(), real(0))
    row(f"wrong: {name} along nothing", lambda mt, x, n=name: getattr(x, n)(1), real(2, 0))
for name in REDUCING.split():
    row(f"{name} along nothing", lambda mt, x, n=name: getattr(x, n)(dim=1), real(2, 0))

# Dtypes that do not fit

WHOLE, SINGLE = fixed([[1, 2], [3, 4]]), fixed([[1.0, 2], [3, 4]], "float32")
row("wrong: matmul dtypes", lambda mt, x, y: x @ y, real(2, 2), SINGLE)
row("wrong: mv dtypes", lambda mt, x, y: x @ y[0], real(2, 2), SINGLE)
row("wrong: dot dtypes", lambda mt, x, y: x @ y[0], real(2), SINGLE)
row("wrong: bmm dtypes", lambda mt, x, y: mt.bmm(x, y[None]), real(1, 2, 2), SINGLE)
row("wrong: matmul whole", lambda mt, x, y: x @ y, real(2, 2), WHOLE)
row("wrong: linear dtypes", lambda mt, x, w, b: mt.nn.functional.linear(x, w, b), SINGLE, real(2, 2), real(2))
row("wrong: linear bias dtype", lambda mt, x, w, b: mt.nn.functional.linear(x, w, b[0]), real(2, 2), real(2, 2), SINGLE)
row("wrong: baddbmm dtypes", lambda mt, x, y: mt.baddbmm(y[None], x, x), real(1, 2, 2), SINGLE)
row("wrong: conv2d dtypes", lambda mt, x, w: mt.nn.functional.conv2d(x, w[None, None]), real(1, 3, 3), SINGLE)
row("wrong: mean of whole numbers", lambda mt, x: x.mean(), WHOLE)
row("wrong: mean in whole numbers", lambda mt, x: x.mean(dtype=mt.int64), real(2))
row("wrong: std of whole numbers", lambda mt, x: x.std(), WHOLE)
row("wrong: softmax of whole numbers", lambda mt, x: x.softmax(0), WHOLE)
row("wrong: norm of whole numbers", lambda mt, x: x.norm(), WHOLE)
row("wrong: exp_ of whole numbers", lambda mt, x: x.exp_(), WHOLE)
row("wrong: div_ of whole numbers", lambda mt, x: x.div_(2), WHOLE)
row("wrong: mul_ by a fraction", lambda mt, x: x.mul_(0.5), WHOLE)
row("wrong: add_ of complex", lambda mt, x: x.clone().add_(1j), real(2))
row("wrong: whole numbers require grad", lambda mt, x: x.requires_grad_(), WHOLE)
row("wrong: tensor of whole numbers", lambda mt: mt.tensor([1, 2], requires_grad=True))
row("wrong: 1 - mask", lambda mt, m: 1 - m, mask(3))
row("wrong: mask - mask", lambda mt, m: m - m, mask(3))
row("wrong: -mask", lambda mt, m: -m, mask(3))
row("wrong: float & float", lambda mt, x: x & x, real(3))
row("wrong: ~float", lambda mt, x: ~x, real(3))
row("wrong: where of numbers", lambda mt, c, x: mt.where(c, x, x), WHOLE, real(2, 2))
row("wrong: masked_fill of numbers", lambda mt, x, m: x.masked_fill(m, 0.0), real(2, 2), WHOLE)
row("wrong: nll_loss of floats", lambda mt, x, t: mt.nn.functional.nll_loss(x, t), real(2, 3), fixed([0.0, 1.0]))
row("wrong: bce outside", lambda mt, x: mt.nn.functional.binary_cross_entropy(x, x.detach()), fixed([2.0]))
row("wrong: bce shapes", lambda mt, x, y: mt.nn.functional.binary_cross_entropy_with_logits(x, y), real(2), real(3))
row("wrong: reduction", lambda mt, x: mt.nn.functional.mse_loss(x, x, reduction="all"), real(2))
row("wrong: rounding_mode", lambda mt, x: mt.div(x, 2, rounding_mode="up"), real(2))
row("wrong: clamp of nothing", lambda mt, x: x.clamp(), real(2))
row("wrong: gelu approximate", lambda mt, x: mt.nn.functional.gelu(x, approximate="erf"), real(2))
row("wrong: scatter_add dtypes", lambda mt, x, y: x.scatter_add(0, y.long() - 1, y), real(4, 2), SINGLE)
row("wrong: index_put dtypes", lambda mt, x, y: x.index_put((mt.tensor([0]),), y[0]), real(2, 2), SINGLE)

# What is no tensor

for name in OF_EACH.split():
    row(f"wrong: {name} of a number", lambda mt, n=name: getattr(mt, n)(2.0))
row("wrong: exp of a list", lambda mt: mt.exp([1.0, 2.0]))
row("wrong: x + text", lambda mt, x: x + "a", real(2))
row("wrong: x @ 2", lambda mt, x: x @ 2, real(2))
row("wrong: bool of several", lambda mt, x: bool(x), real(2))
row("wrong: float of several", lambda mt, x: float(x), real(2))
row("wrong: item of several", lambda mt, x: x.item(), real(2))
row("wrong: len of a scalar", lambda mt, x: len(x), real())
row("wrong: iterate a scalar", lambda mt, x: list(x), real())
row("wrong: numpy of what requires grad", lambda mt, x: x.numpy(), real(2))
row("wrong: ragged", lambda mt: mt.tensor([[1.0], [2.0, 3.0]]))
row("wrong: tensor of text", lambda mt: mt.tensor([1.0, "a"]))
row("wrong: tensor of None", lambda mt: mt.tensor([None]))
row("wrong: zeros of negative size", lambda mt: mt.zeros(-1))
row("wrong: dropout", lambda mt, x: mt.nn.functional.dropout(x, 1.5), real(2))
