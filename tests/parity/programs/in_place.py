"""Section 6 of the semantics: in-place operations, version counters, views."""

from tests.parity.rows import shows


def leaf(mt, *values):
    return mt.tensor(list(values) or [1.0, 2.0, 3.0], requires_grad=True)


@shows("6 on a leaf")
def is_refused_at_once(mt, see):
    x = leaf(mt)
    for write in (
        lambda: x.add_(1),
        lambda: x.mul_(mt.tensor([1.0, 2.0, 3.0])),
        lambda: x.zero_(),
        lambda: x.copy_(mt.zeros(3)),
        lambda: x.exp_(),
        lambda: x.__setitem__(0, 5.0),
        lambda: x.__setitem__(slice(None), 5.0),
        lambda: x.__setitem__([0, 2], 5.0),
        lambda: x.__iadd__(1),
        lambda: x.fill_(1.0),
    ):
        with see.raising():
            write()
        see(x)
    with mt.no_grad():
        x.add_(1)
        x[0] = 7.0
        x[[1]] = 8.0
    see(x)
    (x * x).sum().backward()
    see.value(x.grad)


@shows("6 on a view of a leaf")
def is_refused_too(mt, see):
    x = leaf(mt)
    v = x[:2]
    with see.raising():
        v.mul_(2)
    with see.raising():
        x.view(3, 1).zero_()
    with see.raising():
        v[0].add_(1)
    see(x, v)
    with mt.no_grad():
        v.mul_(2)
    see(x)
    see(v)
    (v * v).sum().backward()
    see.value(x.grad)


@shows("6 rewriting")
def gives_the_tensor_a_new_history(mt, see):
    x, w = leaf(mt), leaf(mt, 4.0, 5.0, 6.0)
    y = x * 1
    first = y.grad_fn
    y.mul_(w)
    see(y, y.grad_fn.next_functions[0][0] is first)
    y += x
    y -= 1
    y *= 2
    y /= 4
    see(y)
    y.add_(w, alpha=3)
    y.sub_(w, alpha=2)
    see.graph(y)
    with see.order(y):
        y.sum().backward()
    see.value(x.grad, w.grad)


@shows("6 rewriting")
def a_constant_becomes_part_of_the_graph(mt, see):
    w = leaf(mt)
    c = mt.tensor([1.0, 1.0, 1.0])
    see(c.mul_(2) is c, c)
    c.mul_(w)
    see(c)
    d = mt.zeros(2, 3)
    d[0] = w
    see(d)
    see.graph(d)
    d[1] = d[0] * 2
    see.graph(d)
    with see.order(d):
        (d * d).sum().backward()
    see.value(w.grad)
    i = mt.tensor([1, 2, 3])
    with see.raising():
        i.mul_(w)
    see(i)


@shows("6 rewriting")
def with_every_in_place_operation(mt, see):
    x, w = leaf(mt, 0.5, 1.5, 2.5), leaf(mt, 1.0, 2.0, 4.0)
    for write in (
        lambda y: y.add_(w),
        lambda y: y.sub_(w),
        lambda y: y.mul_(w),
        lambda y: y.div_(w),
        lambda y: y.div_(2.0),
        lambda y: y.pow_(3),
        lambda y: y.neg_(),
        lambda y: y.exp_(),
        lambda y: y.sin_(),
        lambda y: y.tanh_(),
        lambda y: y.sigmoid_(),
        lambda y: y.sqrt_(),
        lambda y: y.relu_(),
        lambda y: y.clamp_(1.0, 2.0),
        lambda y: y.clamp_(min=1.0),
        lambda y: y.copy_(w),
        lambda y: y.fill_(3.0),
        lambda y: y.zero_(),
        lambda y: y.add_(y.detach()),
    ):
        y = x * 1
        with see.raising():
            write(y)
        see(y)
        (y * w).sum().backward()
        see.value(x.grad, w.grad)
        z = x * 1
        with see.raising():
            write(z[1:] if z.shape[0] == 3 and y.grad_fn is not None else z)
        x.grad = w.grad = None


@shows("6 rewriting")
def with_itself_as_the_operand(mt, see):
    x = leaf(mt)
    for write in (lambda y: y.mul_(y), lambda y: y.add_(y), lambda y: y[1:].mul_(y[:2]), lambda y: y[1:].copy_(y[:2])):
        y = x * 1
        write(y)
        see(y)
        see.graph(y)
        with see.raising():
            y.sum().backward()
        see.value(x.grad)


@shows("6 rewriting")
def checks_shapes_and_dtypes(mt, see):
    x = leaf(mt) * 1
    with see.raising():
        x.add_(mt.ones(2, 3))
    with see.raising():
        x.add_(mt.ones(2))
    with see.raising():
        mt.tensor([1, 2]).add_(1.5)
    with see.raising():
        mt.tensor([1, 2]).div_(2)
    with see.raising():
        mt.tensor([1.0, 2.0]).mul_(1j)
    with see.raising():
        mt.tensor([True]).add_(1)
    i = mt.tensor([1, 2])
    i.copy_(mt.tensor([1.5, 2.5]))
    i[0] = 7.9
    see(i)
    f = mt.tensor([1.0, 2.0])
    f.add_(mt.tensor([1.0, 2.0], dtype=mt.float64))
    f.mul_(2)
    see(f)
    e = mt.ones(1).expand(3)
    with see.raising():
        e.add_(1)
    see(x)


@shows("6 rewriting")
def casts_gradients_of_mixed_dtypes(mt, see):
    x = leaf(mt)
    d = mt.tensor([1.0, 2.0, 3.0], dtype=mt.float64, requires_grad=True)
    y = x * 1
    y.mul_(d)
    y.add_(d)
    y[:2].mul_(d[:2])
    see(y)
    y.sum().backward()
    see.value(x.grad, d.grad)


@shows("6 rewriting")
def copies_across_dtypes(mt, see):
    x, k = mt.tensor([1.0, 2.0, 3.0], dtype=mt.float64, requires_grad=True), mt.tensor([0])
    cast, part, row, complex_one = x.float(), x.float() * 1, mt.ones(2, 3), mt.ones(3, dtype=mt.complex64)
    cast.copy_(x)
    part[:2].copy_(x[0])
    row[0] = x
    complex_one.copy_(x)
    for one in (cast, part, row, complex_one):
        see(one)
        see.graph(one)
        one.real.sum().backward()
        see.value(x.grad)
    (gradient,) = mt.autograd.grad((mt.ones(3).copy_(x * x) ** 2).sum(), x, create_graph=True)
    see.value(gradient, *mt.autograd.grad(gradient.sum(), x))
    whole = mt.ones(3, dtype=mt.int64)
    see(whole.copy_(x), whole)
    for target in (mt.zeros(3, dtype=mt.int64), mt.zeros(3)):
        for write in (
            lambda target: target.index_add_(0, k, x[:1]),
            lambda target: target.index_copy_(0, k, x[:1]),
            lambda target: target.masked_scatter_(target < 5, x),
        ):
            with see.raising():
                write(target)


@shows("6 version check")
def at_unpacking_for_what_was_saved(mt, see):
    x, w = leaf(mt), leaf(mt)
    y = x * 2
    z = y * w
    y.add_(1)
    with see.raising():
        z.sum().backward()
    y = x * 2
    z = y + w
    y.add_(1)
    z.sum().backward()
    see.value(x.grad, w.grad)
    y = x * 2
    z = y.exp()
    y.add_(1)
    z.sum().backward()
    z = (x * 2).exp()
    z.add_(1)
    with see.raising():
        z.sum().backward()
    y = x * 2
    z = y * y
    y.zero_()
    with see.raising():
        mt.autograd.grad(z.sum(), x)
    see.value(x.grad)


@shows("6 version check")
def through_views_and_detached_aliases(mt, see):
    x, w = leaf(mt), leaf(mt)
    y = x * 2
    z = y * w
    y[0] = 5.0
    with see.raising():
        z.sum().backward()
    y = x * 2
    z = y[1:] * w[1:]
    y[0] = 5.0
    with see.raising():
        z.sum().backward()
    y = x * 2
    z = y * w
    y.detach().zero_()
    with see.raising():
        z.sum().backward()
    y = x * 2
    z = y * w
    y.data.zero_()
    z.sum().backward()
    see.value(x.grad, w.grad)


@shows("6 version check")
def of_a_leaf_that_was_stepped(mt, see):
    x, w = leaf(mt), leaf(mt)
    z = (x * w).sum()
    with mt.no_grad():
        w -= 0.1
    with see.raising():
        z.backward()
    z = (x * w).sum()
    w.data -= 0.1
    z.backward()
    see.value(x.grad, w.grad)


@shows("6 version check")
def counts_from_the_version_that_was_saved(mt, see):
    x, w = leaf(mt), leaf(mt)
    y = x * 2
    y.add_(1)
    y.add_(1)
    z = y * w
    y.mul_(1)
    with see.raising():
        z.sum().backward()
    y = x * 2
    y.add_(1)
    (y * w).sum().backward()
    see.value(x.grad, w.grad)


@shows("6 what is saved")
def is_only_what_the_formulas_need(mt, see):
    x, w, c = leaf(mt), leaf(mt), mt.tensor([4.0, 5.0, 6.0])
    for operation in (
        lambda y: y + w,
        lambda y: y - w,
        lambda y: y * c,
        lambda y: y * 3,
        lambda y: y / c,
        lambda y: -y,
        lambda y: y.sum(),
        lambda y: y.mean(),
        lambda y: y.view(3, 1),
        lambda y: y.exp(),
        lambda y: y.sqrt(),
        lambda y: y.tanh(),
        lambda y: y.sigmoid(),
        lambda y: y.relu(),
        lambda y: y.clone(),
        lambda y: y[1:],
        lambda y: y.sin(),
        lambda y: y.log(),
        lambda y: y * y,
        lambda y: y**2,
        lambda y: y.abs(),
        lambda y: w / y,
        lambda y: y.reshape(3, 1) @ w.reshape(1, 3),
        lambda y: y @ c,
        lambda y: y.max(),
        lambda y: 2 / y,
        lambda y: 1 - y,
        lambda y: mt.cat([y, w]),
        lambda y: mt.stack([y, w]),
        lambda y: mt.where(y > 2, y, w),
        lambda y: mt.maximum(y, w),
        lambda y: y.softmax(0),
        lambda y: y.clamp(1.0, 3.0),
    ):
        y = x * 2
        z = operation(y).sum()
        with mt.no_grad():
            y.detach().add_(1)
        with see.raising():
            z.backward()
        see.value(x.grad)
        x.grad = w.grad = None


@shows("6 what is saved")
def of_constants(mt, see):
    x, c = leaf(mt), mt.tensor([4.0, 5.0, 6.0])
    y = x + c
    z = x * c
    c.add_(1)
    y.sum().backward()
    with see.raising():
        z.sum().backward()
    see.value(x.grad)


@shows("6 view ops")
def copy_nothing_and_share_one_version(mt, see):
    x = mt.arange(24.0).reshape(2, 3, 4) * 1
    for view in (
        lambda: x[0],
        lambda: x[0, 1],
        lambda: x[0:1],
        lambda: x[:, 1:],
        lambda: x[..., 2],
        lambda: x[None],
        lambda: x[:, ::2],
        lambda: x[-1],
        lambda: x[:],
        lambda: x[...],
        lambda: x.view(6, 4),
        lambda: x.view(-1),
        lambda: x.reshape(4, 6),
        lambda: x.transpose(0, 2),
        lambda: x.permute(2, 0, 1),
        lambda: x[0].t(),
        lambda: x[0].T,
        lambda: x.expand(5, 2, 3, 4),
        lambda: x.unsqueeze(1),
        lambda: x.unsqueeze(-1).squeeze(-1),
        lambda: x[:1].squeeze(),
        lambda: x[:1].squeeze(0),
        lambda: x.flatten(1),
        lambda: x.view_as(x),
        lambda: x.detach(),
    ):
        v = view()
        see(v, v._base is x, v._base is None)
        with mt.no_grad():
            x.add_(1)
        see(v._version == x._version)
        see.value(v)
    see(x.reshape(3, 8).t().reshape(24)._is_view(), x.transpose(0, 1).reshape(-1)._is_view())
    with see.raising():
        x.transpose(0, 1).view(-1)


@shows("6 view ops")
def have_torchs_names_and_gradients(mt, see):
    a = mt.arange(24.0).reshape(2, 3, 4).requires_grad_()
    w = mt.arange(24.0) + 1
    for view in (
        lambda x: x[0],
        lambda x: x[0, 1],
        lambda x: x[0:1],
        lambda x: x[:, 1:],
        lambda x: x[..., 2],
        lambda x: x[None],
        lambda x: x[:, ::2],
        lambda x: x[:],
        lambda x: x[1, None, 1:, -1],
        lambda x: x.view(6, 4),
        lambda x: x.reshape(4, 6),
        lambda x: x.transpose(0, 2),
        lambda x: x.transpose(0, 2).reshape(-1),
        lambda x: x.permute(2, 0, 1),
        lambda x: x[0].t(),
        lambda x: x[0].T,
        lambda x: x.mT,
        lambda x: x.expand(2, 2, 3, 4)[1],
        lambda x: x[:1].expand(5, 3, 4)[0],
        lambda x: x[:1].squeeze(),
        lambda x: x[:1].squeeze(0),
        lambda x: x[:1].squeeze(1),
        lambda x: x.unsqueeze(1),
        lambda x: x.flatten(),
        lambda x: x.flatten(1),
    ):
        x = a * 1
        v = view(x)
        see(v)
        see.graph(v)
        with see.order(v):
            (v.reshape(-1) * w[: v.numel()]).sum().backward()
        see.value(a.grad)
        a.grad = None


@shows("6 in-place on a view")
def writes_a_copy_slices_into_the_base(mt, see):
    x, w = leaf(mt), leaf(mt, 4.0, 5.0)
    y = x * 2
    v, other = y[:2], y[1:]
    before = v.grad_fn
    v.mul_(w)
    see(y, v, other, v.grad_fn is before)
    see.graph(y)
    see.graph(v)
    see.graph(other)
    with see.order(y):
        (y * y).sum().backward(retain_graph=True)
    see.value(x.grad, w.grad)
    with see.order(v, other):
        (v.sum() * other.sum()).backward()
    see.value(x.grad, w.grad)


@shows("6 in-place on a view")
def of_a_view_of_a_view(mt, see):
    x = mt.arange(12.0).reshape(3, 4).requires_grad_()
    y = x * 1
    rows = y[1:]
    cell = rows.t()[2]
    cell.mul_(10)
    see(y, rows, cell)
    rows.add_(1)
    y[0].zero_()
    see(cell)
    see.graph(cell)
    with see.order(cell, y):
        ((y * y).sum() + cell.sum()).backward()
    see.value(x.grad)


@shows("6 in-place on a view")
def of_transposed_and_reshaped_memory(mt, see):
    x = mt.arange(12.0).reshape(3, 4).requires_grad_()
    for write in (
        lambda y: y.t().reshape(12)[3:7].mul_(5) if y.t().reshape(12)._is_view() else y.t()[1].mul_(5),
        lambda y: y.view(12)[3:7].mul_(5),
        lambda y: y.view(2, 6).t()[1:].mul_(mt.arange(10.0).reshape(5, 2)),
        lambda y: y[:, 1:3].t().mul_(y[0, 0].detach().clone()),
        lambda y: y.view(2, 2, 3).permute(2, 0, 1)[1].fill_(7.0),
        lambda y: y.unsqueeze(0).squeeze(0)[2].sub_(1),
    ):
        y = x * 1
        write(y)
        see(y)
        (y * y).sum().backward()
        see.value(x.grad)
        x.grad = None
        z = (x.t() * 1).t()
        z = z.clone()
        base = (x.t().clone() * 2).detach().requires_grad_()
        b = base.clone()
        b.t()[1].mul_(3)
        (b * b).sum().backward()
        see.value(z, base.grad)


@shows("6 in-place on a view")
def where_the_base_is_a_constant(mt, see):
    w = leaf(mt, 4.0, 5.0)
    b = mt.zeros(3)
    v = b[:2]
    v.add_(w)
    see(b, v)
    see.graph(b)
    v.mul_(w)
    see.graph(b)
    with see.order(b):
        b.sum().backward()
    see.value(w.grad)


@shows("6 in-place on a view")
def with_create_graph(mt, see):
    x = leaf(mt, 0.5, 1.0, 2.0)
    y = x * x
    v = y[:2]
    v.exp_()
    y[1:].mul_(x[1:])
    (g,) = mt.autograd.grad((y * y).sum(), x, create_graph=True)
    see.value(g)
    see.value(*mt.autograd.grad(g.sum(), x))


@shows("6 in-place on a view")
def whose_result_was_saved(mt, see):
    x = leaf(mt, 0.5, 1.0, 2.0)
    y = x * 1
    y[:2].exp_()
    y[:2].add_(1)
    with see.raising():
        y.sum().backward()
    y = x * 1
    v = y[:2]
    v.exp_()
    v.add_(1)
    with see.raising():
        y.sum().backward()


@shows("6 in-place on a view")
def saved_operands_of_the_write(mt, see):
    x, w = leaf(mt), leaf(mt, 4.0, 5.0)
    y = x * 2
    y[:2].mul_(w)
    y.add_(1)
    y.sum().backward()
    see.value(x.grad, w.grad)
    y = x * 2
    u = w * 1
    y[:2].mul_(u)
    u.add_(1)
    with see.raising():
        y.sum().backward()
    see.value(x.grad, w.grad)


@shows("6 base modified, view used later")
def regenerates_the_views_history(mt, see):
    x, w = leaf(mt), leaf(mt)
    y = x * 2
    v = y[1:]
    y.mul_(w)
    see.graph(v)
    see(v)
    (v * v).sum().backward()
    see.value(x.grad, w.grad)


@shows("6 base modified, view used later")
def of_a_constant_base(mt, see):
    w = leaf(mt)
    b = mt.ones(3)
    v = b[1:]
    see(v)
    b.mul_(w)
    see(v)
    see.graph(v)
    v.sum().backward()
    see.value(w.grad)


@shows("6 base modified, view used later")
def by_a_write_without_grad_mode(mt, see):
    x = leaf(mt)
    y = x * 2
    v = y[1:]
    with mt.no_grad():
        y.mul_(3)
    see(y, v)
    see.graph(v)
    v.sum().backward()
    see.value(x.grad)


@shows("6 base modified, view used later")
def by_detach_and_detach_(mt, see):
    x = leaf(mt)
    y = x * 2
    v = y[1:]
    y.detach_()
    see(y, v)
    v.sum().backward()
    see.value(x.grad)
    y = x * 2
    v = y[1:]
    y.detach_()
    y.add_(1)
    see(y, v)
    v.sum().backward()
    see.value(x.grad)


@shows("6 base modified, view used later")
def order_of_regenerated_nodes(mt, see):
    x = leaf(mt)
    y = x * 2
    a, b = y[:1], y[1:]
    y.mul_(3)
    late = x * 5
    with see.order(b, a, late):
        ((b * late[1:]).sum() + (a * late[:1]).sum()).backward()
    see.value(x.grad)


@shows("6 x[i] = v")
def gives_v_its_gradient_and_cuts_the_rest(mt, see):
    x, v = leaf(mt), mt.tensor(5.0, requires_grad=True)
    y = x * 2
    y[1] = v
    see(y)
    see.graph(y)
    with see.order(y):
        (y * y).sum().backward()
    see.value(x.grad, v.grad)


@shows("6 x[i] = v")
def sums_over_what_was_broadcast(mt, see):
    x = mt.arange(6.0).reshape(2, 3).requires_grad_()
    v, row, one = mt.tensor(5.0, requires_grad=True), leaf(mt), leaf(mt, 7.0)
    for write in (
        lambda y: y.__setitem__(0, v),
        lambda y: y.__setitem__(slice(None), row),
        lambda y: y.__setitem__((slice(None), 1), one),
        lambda y: y.__setitem__(Ellipsis, one),
        lambda y: y.__setitem__(0, row * 2),
        lambda y: y.__setitem__((1, slice(0, 2)), row[1:]),
        lambda y: y.__setitem__((slice(None), slice(1, None)), row[:2].reshape(1, 1, 2)),
        lambda y: y.__setitem__(0, 3.0),
        lambda y: y.__setitem__((0, 0), 3),
        lambda y: y.__setitem__(1, mt.tensor([1.0, 2.0, 3.0])),
        lambda y: y.__setitem__(([0, 1], [2, 2]), v),
        lambda y: y.__setitem__([1], row),
        lambda y: y.__setitem__(mt.tensor([True, False]), row),
        lambda y: y.__setitem__(y.detach() > 2, 0.0),
        lambda y: y.__setitem__((slice(None), [0, 2]), row[:2]),
    ):
        y = x * 1
        write(y)
        see(y)
        (y * y).sum().backward()
        see.value(x.grad, v.grad, row.grad, one.grad)
        x.grad = v.grad = row.grad = one.grad = None


@shows("6 x[i] = v")
def refuses_what_does_not_fit(mt, see):
    y = leaf(mt) * 1
    with see.raising():
        y[:2] = mt.ones(3)
    with see.raising():
        y[5] = 1.0
    with see.raising():
        y[0, 0] = 1.0
    with see.raising(text=False):
        y[0] = "a"
    see(y)


@shows("6 multi-output views")
def must_not_be_written_to(mt, see):
    x = leaf(mt)
    y = x * 2
    first, second, _ = y.unbind(0)
    see(first, second, first._base is y)
    with see.raising():
        first.mul_(2)
    with see.raising():
        second[None].mul_(2)
    a, b = y.split(2)
    with see.raising():
        a.add_(1)
    c, d = y.chunk(2)
    with see.raising():
        d.add_(1)
    see(a, b, c, d)
    (first * second + a.sum() * d.sum()).backward(retain_graph=True)
    see.value(x.grad)
    y.mul_(2)
    with see.raising():
        _ = first.grad_fn
    with see.raising():
        (a * 2).sum()


@shows("6 view made in no_grad")
def is_a_leaf_that_must_not_be_written_to(mt, see):
    x = leaf(mt)
    y = x * 2
    with mt.no_grad():
        v = y[:2]
        w = v[0]
    see(v, w)
    with see.raising():
        v.mul_(2)
    with see.raising():
        w.mul_(2)
    z = v * 3
    see(z)
    see.graph(z)
    z.sum().backward()
    see.value(x.grad, v.grad)
    with see.raising():
        v.sum().backward(inputs=[v])
    see.value(*mt.autograd.grad((v * y[:2]).sum(), [y, v], allow_unused=True))
    with see.raising():
        v[0].backward()
    with see.raising():
        v[0:1].backward(inputs=[x])


@shows("6 view made in no_grad")
def whose_base_was_written_to(mt, see):
    x = leaf(mt)
    y = x * 2
    with mt.no_grad():
        v = y[:2]
    y.mul_(3)
    with see.raising():
        _ = v.grad_fn
    with see.raising():
        v * 2
    see(v.requires_grad)
    y2 = x * 2
    with mt.no_grad():
        v2 = y2[:2]
        y2.mul_(3)
    with see.raising():
        v2 * 2
    with mt.no_grad():
        v3 = x[:2]
        v3.add_(1)
    with see.raising():
        v3 * 2
    see(x)
    c = mt.ones(3)
    with mt.no_grad():
        v4 = c[:2]
    see(v4, v4 * 2)
    with see.raising():
        v4.mul_(x[:2])
    v4.mul_(2)
    see(c)


@shows("6 view made in no_grad")
def written_to_in_no_grad(mt, see):
    x = leaf(mt)
    y = x * 2
    v = y[:2]
    with mt.no_grad():
        v.mul_(10)
    see(y, v)
    (y * v.sum()).sum().backward()
    see.value(x.grad)


@shows("6 in-place on a view")
def builds_a_matrix_row_by_row(mt, see):
    x = leaf(mt)
    out = mt.zeros(3, 3)
    for i in range(3):
        out[i] = x * (i + 1)
        out[i, i] += out[i].sum()
    with see.order(out):
        (out * out).sum().backward()
    see(out)
    see.value(x.grad)


@shows("6 in-place on a view")
def a_recurrence_in_place(mt, see):
    x = leaf(mt)
    state = mt.zeros(3)
    for _ in range(4):
        state = state.mul(0.5).add_(x).tanh_()
    with see.order(state):
        state.sum().backward()
    see.value(x.grad, state)


@shows("6 out=")
def writes_a_result_that_is_not_recorded(mt, see):
    x, result, empty = mt.arange(3.0), mt.zeros(3), mt.zeros(0)
    see.value(mt.mul(x, 2.0, out=result), mt.exp(x, out=empty), mt.sum(x, 0, out=mt.zeros(())))
    see.value(result, empty, result._version > 0)
    values, places = mt.zeros(2), mt.zeros(2, dtype=mt.int64)
    mt.max(mt.tensor([[1.0, 3.0], [5.0, 2.0]]), dim=1, out=(values, places))
    see.value(values, places)
    with see.raising():
        mt.mul(x, 2.5, out=mt.zeros(3, dtype=mt.int64))


@shows("6 out=")
def is_refused_where_gradients_are_wanted(mt, see):
    x, result = mt.ones(2, requires_grad=True), mt.zeros(2)
    with see.raising():
        mt.mul(x, 2.0, out=result)
