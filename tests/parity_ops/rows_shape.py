"""Rows: views, and elements moved elsewhere."""

from __future__ import annotations

from tests.parity_ops.inputs import complex_, exactly, fixed, real
from tests.parity_ops.rows import row

# Shape

MODES = "reflect replicate circular"

row("reshape", lambda mt, x: x.reshape(3, -1), real(2, 6))
row("reshape of nothing", lambda mt, x: x.reshape(3, 0), real(0, 2))
row("reshape a transpose", lambda mt, x: x.t().reshape(-1), real(2, 3))
row("view", lambda mt, x: x.view(6), real(2, 3))
for name, call in {
    "view": lambda mt, x, n: x.view(n(3), -1),
    "view to one dimension": lambda mt, x, n: x.view(n(6)),
    "reshape": lambda mt, x, n: x.reshape((n(3), 2)),
    "expand": lambda mt, x, n: x[:1].expand(n(3), 3),
    "repeat": lambda mt, x, n: x[0].repeat(n(2)),
    "unflatten": lambda mt, x, n: x.unflatten(1, (n(3), n(1))),
    "split": lambda mt, x, n: x.split(n(1)),
    "split sizes": lambda mt, x, n: x.split([n(2), 1], n(-1)),
    "chunk": lambda mt, x, n: x.chunk(n(2)),
    "tensor_split": lambda mt, x, n: x.tensor_split(n(2), 1),
    "hsplit": lambda mt, x, n: x.hsplit(n(3)),
    "permute": lambda mt, x, n: x.permute(n(1), n(0)),
    "transpose": lambda mt, x, n: x.transpose(n(0), n(1)),
    "unsqueeze": lambda mt, x, n: x.unsqueeze(n(1)),
    "flip": lambda mt, x, n: x.flip(n(1)),
    "roll": lambda mt, x, n: x.roll(n(1), n(1)),
    "cat": lambda mt, x, n: mt.cat([x, x], n(1)),
    "sum": lambda mt, x, n: x.sum(n(1)),
    "sum over both": lambda mt, x, n: x.sum((n(0), n(1))),
    "softmax": lambda mt, x, n: x.softmax(n(-1)),
    "max_pool1d": lambda mt, x, n: mt.nn.functional.max_pool1d(x, n(2)),
}.items():
    row(f"{name} by integers in tensors", lambda mt, x, call=call: call(mt, x, mt.tensor), real(2, 3))
row("flatten", lambda mt, x: mt.flatten(x, 1), real(2, 2, 3))
row("flatten scalar", lambda mt, x: mt.flatten(x), real())
row("unflatten", lambda mt, x: x.unflatten(1, (-1, 2)), real(2, 6))
row("ravel", lambda mt, x: mt.ravel(x), real(2, 3))
row("permute", lambda mt, x: x.permute(2, 0, 1), real(2, 3, 4))
row("transpose", lambda mt, x: x.transpose(0, -1), real(2, 3, 4))
row("t", lambda mt, x: x.t(), real(2, 3))
row("T", lambda mt, x: x.T, real(2, 3))
row("mT", lambda mt, x: x.mT, real(2, 3, 4))
row("mH complex", lambda mt, x: x.mH, complex_(2, 3), node=False)
row("movedim", lambda mt, x: mt.movedim(x, (0, 1), (2, 0)), real(2, 3, 4))
row("squeeze", lambda mt, x: x.squeeze(), real(1, 3, 1))
row("squeeze dim", lambda mt, x: x.squeeze(0), real(1, 3, 1))
row("squeeze dims", lambda mt, x: x.squeeze((0, 1)), real(1, 3, 1))
row("unsqueeze", lambda mt, x: x.unsqueeze(-1), real(3))
row("expand", lambda mt, x: x.expand(2, 3, -1), real(3, 1))
row("expand scalar", lambda mt, x: x.expand(4), real())
row("expand_as", lambda mt, x, y: x.expand_as(y) * y, real(1), real(3))
row("broadcast_to", lambda mt, x: mt.broadcast_to(x, (2, 3)), real(3))
row("view_as", lambda mt, x, y: x.view_as(y) * y, real(6), real(2, 3))
row("reshape_as", lambda mt, x, y: x.t().reshape_as(y) * y, real(3, 2), real(6))
row("broadcast_tensors", lambda mt, x, y: mt.broadcast_tensors(x, y), real(3), real(2, 1))
row("type_as", lambda mt, x, y: x.type_as(y), real(3), fixed([1.0], "float32"), smooth=False)
row("cpu", lambda mt, x: x.cpu() * 2, real(3))
for name in ["half", "cfloat", "cdouble"]:
    row(f"{name}()", lambda mt, x, n=name: getattr(x, n)(), exactly([0.0, 1.5, 100.0]), smooth=False, twice=False)
row("contiguous", lambda mt, x: x.t().contiguous(), real(2, 3))
row("clone", lambda mt, x: x.clone(), real(3))
row("to float32", lambda mt, x: x.to(mt.float32), real(3), smooth=False)
row("float and back", lambda mt, x: x.float().double(), real(3), smooth=False)
row("to complex", lambda mt, x: x.to(mt.complex128), real(3))
row("cat", lambda mt, x, y: mt.cat([x, y]), real(2, 3), real(1, 3))
row("cat dim", lambda mt, x, y: mt.cat((x, y), -1), real(2, 3), real(2, 1))
row("cat empty", lambda mt, x, y: mt.cat([x, y]), real(2, 3), real(0))
row("cat dtypes", lambda mt, x, y: mt.cat([x, y.float()]), real(2), real(2), smooth=False)
row("stack", lambda mt, x, y: mt.stack([x, y], 1), real(2, 3), real(2, 3))
row("stack twice", lambda mt, x: mt.stack([x, x, x]), real(2))
row("hstack", lambda mt, x, y: mt.hstack([x, y]), real(2, 1), real(2, 2))
row("vstack", lambda mt, x, y: mt.vstack([x, y]), real(3), real(3))
row("split", lambda mt, x: x.split(2, 1), real(2, 5))
row("split one", lambda mt, x: x.split(2)[0], real(5))
row("split sizes", lambda mt, x: mt.split(x, [1, 3, 0], 0), real(4, 2))
row("chunk", lambda mt, x: x.chunk(3), real(5))
row("unbind", lambda mt, x: x.unbind(1), real(2, 3))
row("unbind one", lambda mt, x: x.unbind()[1], real(3))
row("narrow", lambda mt, x: x.narrow(1, 1, 2), real(2, 4))
row("select", lambda mt, x: x.select(1, -1), real(2, 4))
row("diagonal", lambda mt, x: x.diagonal(), real(3, 4))
row("diagonal offset", lambda mt, x: mt.diagonal(x, -1, 0, 2), real(3, 2, 4))
row("diag of vector", lambda mt, x: mt.diag(x, 1), real(3))
row("diag of matrix", lambda mt, x: mt.diag(x, -1), real(3, 4))
row("diag_embed", lambda mt, x: mt.diag_embed(x, 1), real(2, 3))
row("trace", lambda mt, x: mt.trace(x), real(3, 4))
row("tril", lambda mt, x: x.tril(-1), real(3, 3))
row("triu", lambda mt, x: mt.triu(x), real(2, 3, 4))
row("flip", lambda mt, x: x.flip(0, 1), real(2, 3))
row("fliplr", lambda mt, x: mt.fliplr(x), real(2, 3))
row("flipud", lambda mt, x: mt.flipud(x), real(2, 3))
row("roll", lambda mt, x: x.roll(2, 1), real(2, 3))
row("roll all", lambda mt, x: mt.roll(x, 1), real(2, 3))
row("rot90", lambda mt, x: mt.rot90(x, 1, (0, 1)), real(2, 3))
row("repeat", lambda mt, x: x.repeat(2, 1, 3), real(2, 3))
row("tile", lambda mt, x: x.tile(2), real(2, 3))
row("repeat_interleave", lambda mt, x: x.repeat_interleave(2, 1), real(2, 3))
row("repeat_interleave counts", lambda mt, x, n: x.repeat_interleave(n, 0), real(3, 2), fixed([0, 2, 1]))
for name in ["new_zeros", "new_ones"]:
    row(f"{name}", lambda mt, x, n=name: getattr(x, n)(2, 3), real(1), smooth=False)
    row(f"{name} dtype", lambda mt, x, n=name: getattr(x, n)((2,), dtype=mt.int64), real(1), smooth=False)
row("new_full", lambda mt, x: x.new_full((2,), 3.0) + x, real(1))
row("new_tensor", lambda mt, x: x.new_tensor([1, 2], requires_grad=True) * x, real(1), smooth=False)
row("new_empty", lambda mt, x: x.new_empty(0, 2), real(1), smooth=False)
row("empty_like", lambda mt, x: mt.empty_like(x), real(0, 2), smooth=False)
row("stride", lambda mt, x: mt.tensor([*x.stride(), x.t().stride(1), *x[:0].stride()]), real(2, 3), smooth=False)
row(
    "is_contiguous",
    lambda mt, x: mt.tensor([x.is_contiguous(), x.t().is_contiguous(), x[:0].is_contiguous()]),
    real(2, 3),
    smooth=False,
)
row("data_ptr", lambda mt, x: mt.tensor([x[1].data_ptr() - x.data_ptr(), x.element_size()]), real(2, 3), smooth=False)
row("pad", lambda mt, x: mt.nn.functional.pad(x, (1, -1, 0, 2), value=3.0), real(2, 3))
for name in MODES.split():
    circular = name == "circular"  # which torch writes slice by slice
    for shape, widths in (((2, 4), (1, 2)), ((1, 2, 4), (2, 0)), ((1, 2, 3), (-1, 1)), ((1, 2, 3, 3), (1, 1, 2, 0))):
        row(
            f"pad {name} {shape} {widths}",
            lambda mt, x, m=name, w=widths: mt.nn.functional.pad(x, w, mode=m),
            real(*shape),
            node=not circular,
        )
    row(f"wrong: pad {name} 1-d", lambda mt, x, m=name: mt.nn.functional.pad(x, (1, 1), mode=m), real(3), smooth=False)
row(
    "wrong: pad value", lambda mt, x: mt.nn.functional.pad(x, (1, 1), mode="reflect", value=1), real(2, 3), smooth=False
)
row("expand size=", lambda mt, x: x.expand(size=(2, 3)), real(3))
row("diff", lambda mt, x: mt.diff(x, 2), real(2, 5))
row("meshgrid", lambda mt, x, y: mt.meshgrid(x, y, indexing="xy"), real(2), real(3))
for name in ["atleast_1d", "atleast_2d", "atleast_3d"]:
    for shape in ((), (2,), (2, 3), (2, 1, 3)):
        row(f"{name} {shape}", lambda mt, x, n=name: getattr(mt, n)(x), real(*shape))
    row(f"{name} of two", lambda mt, x, y, n=name: getattr(mt, n)(x, y), real(), real(2))
row("dstack", lambda mt, x, y: mt.dstack([x, y]), real(2, 3), real(2, 3))
row("dstack vectors", lambda mt, x, y: mt.dstack((x, y)), real(3), real(3))
row("column_stack", lambda mt, x, y: mt.column_stack([x, y]), real(3), real(3, 2))
row("tensor_split", lambda mt, x: mt.tensor_split(x, 3, 1), real(2, 7))
row("tensor_split at", lambda mt, x: x.tensor_split((1, 3, 9)), real(5))
row("tensor_split at negative", lambda mt, x: x.tensor_split([-2, 1], -1), real(2, 5))
row("hsplit", lambda mt, x: mt.hsplit(x, 2), real(2, 4))
row("hsplit a vector", lambda mt, x: x.hsplit([1]), real(4))
row("vsplit", lambda mt, x: mt.vsplit(x, [1, 2]), real(4, 2))
row("vsplit evenly", lambda mt, x: x.vsplit(2), real(4, 2))
row("wrong: hsplit unevenly", lambda mt, x: mt.hsplit(x, 3), real(2, 4), smooth=False)
row("wrong: vsplit a vector", lambda mt, x: mt.vsplit(x, 2), real(4), smooth=False)
row("wrong: tensor_split into none", lambda mt, x: mt.tensor_split(x, 0), real(4), smooth=False)
row("broadcast_tensors of one shape", lambda mt, x, y: mt.broadcast_tensors(x * 1, y * 1), real(2, 3), real(2, 3))
row("broadcast_tensors of one side", lambda mt, x, y: mt.broadcast_tensors(x * 1, y), real(2, 3), real(3))
row("wrong: broadcast_tensors", lambda mt, x, y: mt.broadcast_tensors(x, y), real(2, 3), real(2), smooth=False)
row("repeat_interleave of nothing", lambda mt, x: mt.repeat_interleave(x, 2, 0), real(3, 0), smooth=False)
row("wrong: repeat_interleave below 0", lambda mt, x: mt.repeat_interleave(x, -1), real(3), smooth=False)
for repeats in ([1, 2], [1, -1, 2]):
    counts = fixed(repeats)
    row(
        f"wrong: repeat_interleave {repeats}",
        lambda mt, x, n: mt.repeat_interleave(x, n, -1),
        real(3),
        counts,
        smooth=False,
    )
row(
    "wrong: masked_scatter of too little",
    lambda mt, x, y: mt.masked_scatter(x, x < 9, y),
    real(3),
    real(2),
    smooth=False,
)
row("wrong: rows of nothing", lambda mt, x, i: x[i], real(0, 3), fixed([0, 1]), smooth=False)
