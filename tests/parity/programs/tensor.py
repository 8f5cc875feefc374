"""Section 1 of the semantics: a tensor's attributes and methods."""

import copy
import pickle

from tests.parity.rows import shows


@shows("1 requires_grad")
def can_be_set_on_floating_leaves(mt, see):
    x = mt.tensor([1.0, 2.0])
    see(x)
    see(x.requires_grad_() is x, x)
    x.requires_grad = False
    see(x)
    x.requires_grad = True
    see(x, x.requires_grad_(False))


@shows("1 requires_grad")
def needs_a_floating_dtype(mt, see):
    x = mt.tensor([1, 2])
    with see.raising():
        x.requires_grad_()
    with see.raising():
        x.requires_grad = True
    x.requires_grad_(False)
    with see.raising():
        mt.tensor([1, 2], requires_grad=True)
    with see.raising():
        mt.zeros(2, dtype=mt.int64, requires_grad=True)
    with see.raising():
        mt.arange(3, requires_grad=True)
    with see.raising():
        mt.tensor([True], requires_grad=True)
    see(x)


@shows("1 requires_grad")
def of_a_result_cannot_be_cleared(mt, see):
    x = mt.tensor([1.0], requires_grad=True)
    y = x * 2
    with see.raising():
        y.requires_grad_(False)
    with see.raising():
        y.requires_grad = False
    see(y.requires_grad_(), y)


@shows("1 requires_grad")
def of_a_result_without_history_can_be_set(mt, see):
    x = mt.tensor([1.0])
    y = (x * 2).requires_grad_()
    z = y * 3
    z.sum().backward()
    see(y, z)
    see.value(y.grad, x.grad)


@shows("1 requires_grad")
def of_a_view_of_a_constant(mt, see):
    x = mt.tensor([[1.0, 2.0], [3.0, 4.0]])
    v = x[0].requires_grad_()
    see(x, v)
    w = v * v
    w.sum().backward()
    see.value(v.grad, x.grad)
    x.mul_(2)
    see(x, v)
    with see.raising():
        v.mul_(2)
    (v * v).sum().backward()
    see.value(v.grad)
    v.requires_grad_(False)
    see(v)
    v.mul_(2)
    see(v, x)


@shows("1 requires_grad")
def of_a_view_whose_base_gets_a_history_afterwards(mt, see):
    x = mt.tensor([[1.0, 2.0], [3.0, 4.0]])
    w = mt.tensor(2.0, requires_grad=True)
    v = x[0].requires_grad_()
    x.mul_(w)
    see(x, v)
    v.sum().backward()
    see.value(w.grad)


@shows("1 is_leaf")
def by_history(mt, see):
    x = mt.tensor([1.0], requires_grad=True)
    c = mt.tensor([1.0])
    see(x, c, c * 2, x * 2, x.detach(), (x * 2).detach(), c[0], x[0])
    with mt.no_grad():
        see(x * 2, x[0])


@shows("1 grad_fn")
def is_one_object_and_read_only(mt, see):
    x = mt.tensor([1.0], requires_grad=True)
    y = x * 2
    see(x.grad_fn, y.grad_fn is y.grad_fn, y.grad_fn)
    with see.raising(text=False):
        y.grad_fn = None


@shows("1 grad_fn")
def of_a_view_is_made_again_when_its_base_changed(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    v = y[0]
    before = v.grad_fn
    see(v, v.grad_fn is before)
    y.mul_(3)
    after = v.grad_fn
    see(after is before, v.grad_fn is after, v, y)
    see.graph(v)


@shows("1 grad")
def starts_none_and_checks_what_is_assigned(mt, see):
    x = mt.tensor([1.0], requires_grad=True)
    see(x.grad)
    for wrong in (1, mt.tensor([1.0, 2.0]), x, "a", mt.tensor(1.0)):
        with see.raising():
            x.grad = wrong
    for wrong in (mt.tensor([1.0], dtype=mt.float64), mt.tensor([1])):
        with see.raising(text=False):
            x.grad = wrong
    g = mt.tensor([5.0])
    x.grad = g
    see(x.grad is g)
    (x * 2).sum().backward()
    see(x.grad is g, x.grad)
    x.grad = None
    see(x.grad)
    x.grad = g
    del x.grad
    see(x.grad)


@shows("1 grad")
def of_a_result_warns_unless_retained(mt, see):
    x = mt.tensor([1.0], requires_grad=True)
    y = x * 2
    see(y.grad)
    y.retain_grad()
    see(y.grad)
    y.sum().backward()
    see.value(y.grad)


@shows("1 grad")
def may_be_set_on_what_does_not_require_grad(mt, see):
    c = mt.tensor([1.0])
    c.grad = mt.tensor([2.0])
    see.value(c.grad)
    y = mt.tensor([1.0], requires_grad=True) * 2
    y.grad = mt.tensor([2.0])
    see.value(y.grad)


@shows("1 backward")
def returns_none_and_accumulates(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    see((x * x).sum().backward())
    (x * 3).backward(mt.tensor([1.0, 10.0]))
    (x * 3).backward(gradient=mt.tensor([1.0, 10.0]), inputs=[x])
    see.value(x.grad)


@shows("1 detach")
def shares_memory_and_version(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    d = y.detach()
    see(d, d is y, d._base is None)
    d.add_(1)
    see(d, y)
    z = y.exp()
    d.zero_()
    e = z.detach()
    e.zero_()
    with see.raising():
        z.sum().backward()


@shows("1 detach")
def of_a_view_is_no_view(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    v = (x * 2)[0]
    d = v.detach()
    see(d, v)
    d.mul_(3)
    see(d, v)
    z = v * v
    d.mul_(2)
    with see.raising():
        z.backward()


@shows("1 detach_")
def drops_history_in_place(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    see(y.detach_() is y, y)
    (y * x).sum().backward()
    see.value(x.grad, y.grad)
    x.detach_()
    see(x)


@shows("1 detach_")
def is_refused_on_views(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    with see.raising():
        (x * 2)[0].detach_()
    with see.raising():
        mt.tensor([1.0, 2.0])[0].detach_()


@shows("1 detach_")
def of_a_saved_input_is_noticed(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = y * y
    y.detach_()
    with see.raising():
        z.sum().backward()


@shows("1 detach_")
def of_a_saved_output_is_fine(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    z = (x * 2).exp()
    w = z * 3
    z.detach_()
    w.sum().backward()
    see.value(x.grad)


@shows("1 detach_")
def of_a_saved_leaf_is_fine(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    y = mt.tensor([3.0, 4.0], requires_grad=True)
    z = y * x
    y.detach_()
    z.sum().backward()
    see.value(x.grad, y.grad)


@shows("1 data")
def shares_memory_but_not_the_version(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    d = y.data
    see(d, y)
    d.mul_(0)
    see(d, y)
    y.sum().backward()
    see.value(x.grad)


@shows("1 data")
def can_be_replaced(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    x.data = mt.tensor([5.0, 6.0])
    see(x, y)
    z = x * x
    x.data = mt.tensor([7.0, 8.0])
    z.sum().backward()
    see.value(x.grad)
    x.grad = None
    x.data.add_(1)
    x.data = x.data * 2
    see(x)
    with see.raising():
        x.data = mt.tensor([1, 2])
    with see.raising():
        x.data = 3
    with see.raising():
        del x.data
    c = mt.tensor([1.0])
    c.data = mt.tensor([1, 2])
    see(c)


@shows("1 data")
def keeps_hooks_and_version_when_replaced(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: g * 10)
    with mt.no_grad():
        x.add_(1)
    x.data = mt.tensor([5.0, 6.0])
    see(x)
    (x * x).sum().backward()
    see.value(x.grad)


@shows("1 data")
def of_another_shape_changes_what_backward_expects(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    x.data = mt.tensor([1.0, 2.0, 3.0])
    (x * x).sum().backward()
    see.value(x.grad)


@shows("1 data")
def of_another_shape_gives_the_gradient_its_shape(mt, see):
    shapes = [(), (1,), (2,), (3,), (1, 2), (2, 1), (2, 2), (3, 2), (1, 2, 2)]
    for before, after in [(one, other) for one in shapes for other in shapes[1:] if len(one) != len(other)]:
        for has_grad in (False, True):
            x = mt.ones(before, requires_grad=True)
            y = x * 2
            x.data = mt.ones(after)
            x.grad = mt.ones(after) if has_grad else None
            with see.raising():
                y.backward(mt.ones(before))
                see.value(x.grad)
    for before, after in [((2,), (1, 2)), ((2,), (2, 2)), ((2, 2), (2,))]:
        x = mt.ones(before, requires_grad=True)
        y = x * x
        x.data = mt.ones(after)
        with see.raising():
            y.sum().backward(create_graph=True)
            see.value(x.grad)


@shows("1 retain_grad, retains_grad")
def keeps_a_results_gradient(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    see(y.retains_grad, x.retains_grad)
    y.retain_grad()
    y.retain_grad()
    x.retain_grad()
    see(y.retains_grad, x.retains_grad)
    z = (y * y).sum()
    z.backward(retain_graph=True)
    first = y.grad
    see.value(y.grad, x.grad)
    z.backward()
    see(y.grad is first)
    see.value(first, y.grad, x.grad)
    with see.raising():
        mt.tensor([1.0]).retain_grad()


@shows("1 retain_grad, retains_grad")
def follows_the_tensor_through_in_place_operations(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    see(y)
    (y * y).sum().backward()
    see.value(y.grad, x.grad)


@shows("1 retain_grad, retains_grad")
def on_a_view_and_its_base(mt, see):
    x = mt.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    v = y[:2]
    v.retain_grad()
    v.mul_(5)
    see(y, v)
    (y * y).sum().backward()
    see.value(y.grad, v.grad, x.grad)
    v2 = v * v
    see(v2)


@shows("1 retain_grad, retains_grad")
def on_a_view_used_after_its_base_changed(mt, see):
    x = mt.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2
    v = y[:2]
    v.retain_grad()
    y.mul_(5)
    see(v)
    (v * v).sum().backward()
    see.value(v.grad, x.grad)


@shows("1 retain_grad, retains_grad")
def with_create_graph(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    y.retain_grad()
    (y * y).sum().backward(create_graph=True)
    see(y.grad)
    see.value(x.grad)
    (y * y).sum().backward(create_graph=True)
    see(y.grad)
    see.value(x.grad)


@shows("1 _version")
def counts_writes_and_is_shared(mt, see):
    x = mt.tensor([[1.0, 2.0], [3.0, 4.0]])
    v = x[0]
    d = x.detach()
    data = x.data
    see(x._version)
    x.add_(1)
    x += 1
    x[0] = 5.0
    x[0, 1] = 5
    x.zero_()
    x.fill_(3)
    x.copy_(mt.tensor([1.0, 2.0]))
    v.mul_(2)
    d.mul_(2)
    see(x._version, v._version, d._version, data._version, v[0]._version, x.t()._version)
    with mt.no_grad():
        x.sub_(1)
    see(x._version, x)
    with see.raising():
        x.add_(mt.tensor([1.0, 2.0, 3.0]))
    see(x._version)


@shows("1 _base, _is_view(), output_nr")
def name_the_root_base(mt, see):
    x = mt.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 2
    v = y[0]
    w = v[1]
    see(y._base is None, v._base is y, w._base is y, y._is_view(), v._is_view(), w._is_view())
    see(x.t()._base is x, x.detach()._base is None, x.view(4)._base is x, x.reshape(4)._base is x)
    see(x.t().reshape(4)._is_view(), x.clone()._is_view(), x.expand(3, 2, 2)._is_view(), x.unsqueeze(0)._is_view())
    see([part.output_nr for part in x.unbind(0)], y.output_nr, x.output_nr)


@shows("1 numpy, __array__")
def is_refused_where_gradients_would_be_lost(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    with see.raising():
        x.numpy()
    with see.raising():
        (x * 2).numpy()
    with mt.no_grad():
        see(x.numpy().tolist())
    see(x.detach().numpy().tolist(), mt.tensor([1, 2]).numpy().tolist())
    x.detach().numpy()[0] = 7
    see(x)


@shows("1 item, tolist, float")
def leave_the_graph(mt, see):
    x = mt.tensor(2.5, requires_grad=True)
    see(x.item(), x.tolist(), (x * 2).item(), mt.tensor([[1.0]]).item(), mt.tensor([1, 2]).tolist())
    see(float(x), int(mt.tensor(2.5)), float(mt.tensor([2.5])))
    with see.raising():
        mt.tensor([1.0, 2.0]).item()
    with see.raising():
        float(mt.tensor([1.0, 2.0]))
    with see.raising():
        mt.tensor([]).item()


@shows("1 clone")
def is_a_differentiable_copy(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    y = x.clone()
    see(y)
    y.mul_(3)
    (y * y).sum().backward()
    see(x, y)
    see.value(x.grad)


@shows("1 __bool__")
def needs_one_value(mt, see):
    see(bool(mt.tensor(1.0)), bool(mt.tensor([0.0])), bool(mt.tensor([[True]])))
    with see.raising():
        bool(mt.tensor([1.0, 2.0]))
    with see.raising():
        bool(mt.tensor([]))


@shows("1 __repr__")
def shows_history_and_unusual_dtypes(mt, see):
    x = mt.tensor([1.0, 2.5], requires_grad=True)
    see(repr(x), repr(x * 2), repr(mt.tensor(1.5)), repr(mt.tensor([1, 2])), repr(mt.tensor([True, False])))
    see(repr(mt.tensor([1.0], dtype=mt.float64)), repr(mt.tensor([1], dtype=mt.int32)), repr(mt.tensor(3)))
    see(repr(x.detach()), repr(mt.zeros(2, 3)), repr((x * 2)[0]), repr(mt.tensor([])), repr(mt.zeros(0, 3)))
    see(
        repr(mt.tensor([1.0, float("nan"), float("inf")])), repr(mt.tensor(float("nan"))), repr(mt.tensor([1e-10, 1.0]))
    )
    see(
        repr(mt.tensor([0.1234567, 123456.789])),
        repr(mt.tensor([1e10, 1.0])),
        repr(mt.tensor(True)),
        repr(mt.tensor(-1.0)),
    )
    see(
        repr(mt.arange(12.0).reshape(3, 4)),
        repr(mt.tensor([1 + 2j])),
        repr(mt.arange(2000)),
        repr(mt.tensor([-1.5, 22.25])),
    )
    see(repr(mt.tensor(1e-7)), repr(mt.tensor(1234567.0)), repr(mt.tensor(0.1)), repr(mt.tensor([1000.5, 0.001])))
    see(repr(mt.arange(30.0)), repr(mt.ones(1000, dtype=mt.float64)[:15]))


@shows("1 __repr__")
def of_a_stale_view_is_invalid(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    with mt.no_grad():
        v = y[0]
    y.mul_(2)
    see(repr(v))
    with see.raising():
        _ = v.grad_fn
    with see.raising():
        _ = v.requires_grad


@shows("1 __deepcopy__")
def copies_leaves_only(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    (x * 2).sum().backward()
    y = copy.deepcopy(x)
    see(y is x)
    see.value(y, y.grad)
    y.data.mul_(2)
    see(x, y.grad is x.grad, y.is_leaf)
    with see.raising():
        copy.deepcopy(x * 2)
    pair = copy.deepcopy([x, x])
    see(pair[0] is pair[1])


@shows("1 factories")
def make_leaves_even_inside_no_grad(mt, see):
    with mt.no_grad():
        see(mt.tensor([1.0], requires_grad=True), mt.zeros(2, requires_grad=True), mt.ones(2, 2, requires_grad=True))
    see(mt.full((2,), 3.0, requires_grad=True), mt.eye(2, requires_grad=True), mt.linspace(0, 1, 3, requires_grad=True))
    x = mt.tensor([1.0], requires_grad=True)
    see(mt.zeros_like(x), mt.ones_like(x, requires_grad=True), mt.full_like(x, 2.0))
    see(mt.tensor(x))
    see(mt.tensor(2), mt.tensor([]), mt.tensor([[1, 2], [3, 4]]), mt.tensor(True), mt.tensor([1, 2.5]), mt.tensor(1j))


@shows("1 grad_dtype")
def follows_the_dtype_unless_set(mt, see):
    x = mt.ones(2, requires_grad=True)
    see(x.grad_dtype, mt.ones(2).grad_dtype)
    x.data = mt.ones(2, dtype=mt.float64)
    see(x.grad_dtype)
    x.grad_dtype = mt.float16
    see(x.grad_dtype, x.detach().grad_dtype)
    y = x * 2
    with see.raising():
        _ = y.grad_dtype
    with see.raising():
        x.grad_dtype = "float"
    x.grad_dtype = None
    see(x.grad_dtype)


@shows("1 grad_dtype")
def is_the_dtype_gradients_are_cast_to(mt, see):
    class Precise(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad.double()

    x = mt.ones(2, requires_grad=True)
    result = Precise.apply(x).sum()
    for dtype in (mt.float32, None, mt.float16, mt.float64):
        x.grad, x.grad_dtype = None, dtype
        result.backward(retain_graph=True)
        see.value(x.grad, *mt.autograd.grad(result, x, retain_graph=True))
        see((x * 2).grad_fn.next_functions[0][0].variable is x)
        (x * 3).sum().backward()
        see.value(x.grad)


@shows("1 grad_dtype")
def decides_what_may_be_assigned(mt, see):
    x = mt.ones(2, requires_grad=True)
    x.grad_dtype = mt.float64
    with see.raising():
        x.grad = mt.ones(2)
    x.grad = mt.ones(2, dtype=mt.float64)
    with see.raising():
        x.grad_dtype = mt.float32
    x.grad_dtype = None
    x.grad = mt.ones(2, dtype=mt.float16)
    see.value(x.grad)


@shows("1 del x.data")
def is_refused(mt, see):
    x = mt.ones(2, requires_grad=True)
    x.grad = mt.ones(2)
    for name in ("data", "_grad_fn", "requires_grad"):
        with see.raising():
            delattr(x, name)
    for name in ("grad_fn", "is_leaf", "_base", "shape", "dtype", "output_nr", "_version"):
        with see.raising(text=False):
            delattr(x, name)
    del x.grad
    see(x.grad, x)


def copies(tensor):
    """Every copy that pickle and copy make of a tensor."""
    pickled = [pickle.loads(pickle.dumps(tensor, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    return [*pickled, copy.copy(tensor), copy.deepcopy(tensor) if tensor.is_leaf else tensor]


@shows("1 __deepcopy__")
def pickled_by_every_protocol(mt, see):
    x = mt.ones(2, requires_grad=True)
    x.grad = mt.ones(2)
    x.note = [1]
    tensors = [x, x * 2, mt.tensor(3), mt.tensor(True), mt.ones(2, 3).t(), mt.zeros(0, 3), mt.tensor([1 + 2j]), x[1:]]
    for tensor in tensors:
        for copied in copies(tensor):
            see.value(copied)
            see(copied.is_leaf, copied.stride(), getattr(copied, "note", None))
    for copied in copies(x):
        see.value(copied.grad)
        see(copied.note is x.note)
    (x * x).sum().backward(create_graph=True)
    see(pickle.loads(pickle.dumps(x)).grad)
    with see.raising():
        copy.deepcopy(x)


@shows("1 __deepcopy__")
def memory_that_copies_share(mt, see):
    x = mt.arange(6.0)
    view = x[2:4]
    for both in (copy.deepcopy((x, view)), pickle.loads(pickle.dumps((x, view))), (x, copy.copy(view))):
        both[1].add_(10)
        see.value(*both)
    for one, other in (copy.deepcopy([x, x]), pickle.loads(pickle.dumps([x, x], 0))):
        see(one is other)


@shows("1 __deepcopy__")
def hooks_are_not_copied(mt, see):
    class Hook:
        def __call__(self, grad):
            return grad * 2

        def __repr__(self):
            return "<hook>"

    x = mt.ones(2, requires_grad=True)
    x.register_hook(Hook())
    x.register_hook(mt.utils.hooks.unserializable_hook(lambda grad: grad * 3))
    x.register_post_accumulate_grad_hook(lambda leaf: None)
    for copied in copies(x):
        (copied * 1).sum().backward()
        see.value(copied.grad)


@shows("1 __deepcopy__")
def copied_in_inference_mode(mt, see):
    with mt.inference_mode():
        made = mt.ones(2)
        see([copied.is_inference() for copied in copies(made)])
    see([copied.is_inference() for copied in copies(made)])


@shows("1 __deepcopy__", differs="A pickled view holds its own elements; PyTorch's holds all memory of its base")
def strides_of_a_pickled_view(mt, see):
    see(pickle.loads(pickle.dumps(mt.arange(6.0)[::2])).stride())


@shows("12 0-d and zero-size tensors")
def results_that_view_takes(mt, see):
    x, y = mt.arange(6.0).view(2, 3).t().requires_grad_(), mt.arange(3.0).view(3, 1).expand(3, 2)
    index = mt.tensor([0, 1])
    for function in (
        lambda: mt.stack([x, y]),
        lambda: mt.stack([x, x], 1),
        lambda: mt.cat([x, x]),
        lambda: mt.cat([x, x], 1),
        lambda: mt.hstack([x, y]),
        lambda: mt.vstack([x, x]),
        lambda: mt.dstack([x, x]),
        lambda: x.tile(2, 2),
        lambda: x.repeat(2, 1),
        lambda: x.flip(0),
        lambda: x.roll(1, 0),
        lambda: x.sum(0, keepdim=True),
        lambda: x.unsqueeze(0).sum(1),
        lambda: x.cumsum(0),
        lambda: x.softmax(1),
        lambda: x.log_softmax(0),
        lambda: x[:, index],
        lambda: x[index],
        lambda: x.index_select(1, index),
        lambda: x.gather(0, mt.tensor([[0, 1], [1, 2]])),
        lambda: x.masked_fill(y > 1, 0.0),
        lambda: mt.where(y > 1, y, y),
        lambda: x @ x.t(),
        lambda: y.clone(),
        lambda: y + 0,
        lambda: x.clone(),
        lambda: x.contiguous(),
        lambda: x.exp(),
        lambda: x.tril(),
        lambda: mt.nn.functional.pad(x, (1, 1)),
        lambda: mt.nn.functional.layer_norm(x, (2,)),
    ):
        with see.raising():
            see.value(function().view(-1))


@shows("1 grad_dtype")
def names_the_dtype_of_what_is_assigned(mt, see):
    for dtype in (mt.bool, mt.uint8, mt.int32, mt.int64, mt.float16, mt.float32, mt.complex64, mt.complex128):
        x = mt.ones(2, dtype=mt.float64)
        with see.raising():
            x.grad = mt.ones(2, dtype=dtype)


@shows("1 data")
def of_another_shape_than_the_gradient(mt, see):
    for shape, other in (((2,), (3, 2)), ((), (3, 2)), ((2,), (3,))):
        x = mt.ones(shape, requires_grad=True)
        x.backward(mt.ones(shape))
        x.data = mt.ones(other)
        with see.raising():
            x.backward(mt.ones(other))
        see.value(x.grad)


@shows("12 complex")
def type_names_in_messages(mt, see):
    for dtype in (mt.float64, mt.complex64, mt.complex128):
        y = mt.ones(2, dtype=dtype, requires_grad=True) * 1
        z = y * y
        y.mul_(2)
        with see.raising():
            z.sum().abs().backward()
        with see.raising():
            mt.ones(2, dtype=dtype)[0] = "a"
    for dtype in (mt.bool, mt.uint8, mt.float16, mt.complex64):
        with see.raising():
            mt.ones(2, 3, dtype=dtype).expand(3)
    for hook in (lambda g: g.to(mt.complex64), lambda g: g > 0):
        x = mt.ones(2, requires_grad=True)
        x.register_hook(hook)
        with see.raising():
            x.sum().backward()


@shows("12 comparisons and casts to int")
def true_and_false_beside_a_tensor(mt, see):
    for x in (mt.ones(2), mt.tensor([1, 2]), mt.tensor([True, False]), mt.tensor([1j, 2])):
        for subtract in (
            lambda x: x - True,
            lambda x: False - x,
            lambda x: x.clone().sub_(True),
            lambda x: mt.sub(x, True),
            lambda x: mt.sub(x, True, alpha=2),
            lambda x: mt.rsub(x, True),
            lambda x: x + True,
            lambda x: x * False,
        ):
            with see.raising():
                see(subtract(x))


@shows("6 rewriting")
def operands_of_another_type(mt, see):
    for other in (None, "a", [1], (1,), {}, object):
        for method in ("add_", "sub_", "mul_", "div_", "copy_"):
            with see.raising():
                getattr(mt.ones(2), method)(other)
        for name in ("add", "sub", "mul", "maximum", "minimum", "atan2", "hypot", "logaddexp"):
            with see.raising():
                getattr(mt, name)(mt.ones(2), other)


@shows("1 factories")
def numbers_that_do_not_fit(mt, see):
    numbers = (-1, -255, -256, 255, 256, 300, 2.7, -0.5, -1.5, 3e9, 1e20, 1e39, float("inf"), float("nan"), 1j, True)
    for dtype in (mt.uint8, mt.int8, mt.int16, mt.int32, mt.int64, mt.bool, mt.float32, mt.float64, mt.complex64):
        mask = mt.tensor([True, False])
        for number in numbers:
            for fill in (
                lambda x, n: x.fill_(n),
                lambda x, n: x.masked_fill_(mask, n),  # noqa: B023 - called at once
                lambda x, n: x.__setitem__(0, n) or x,
                lambda x, n: mt.full((2,), n, dtype=x.dtype),
                lambda x, n: mt.full_like(x, n),
                lambda x, n: x.new_full((2,), n),
            ):
                with see.raising():
                    see.value(fill(mt.zeros(2, dtype=dtype), number))
    for number in (300, -1, -256, -0.5, float("nan")):
        for data in (number, [0, number]):
            with see.raising():
                see.value(mt.tensor(data, dtype=mt.uint8))
