"""Sections 2 and 9 of the semantics: `backward`, `grad` and the engine."""

import threading
import weakref

from tests.parity.rows import shows


def pair(mt):
    return mt.tensor([1.0, 2.0], requires_grad=True), mt.tensor([3.0, 4.0], requires_grad=True)


@shows("2 backward(tensors, ...)")
def sums_over_its_roots(mt, see):
    x, y = pair(mt)
    a, b = (x * y).sum(), (x + y).sum()
    mt.autograd.backward([a, b])
    see.value(x.grad, y.grad)
    c = (x * x).sum()
    mt.autograd.backward([c, c])
    see.value(x.grad)
    mt.autograd.backward([x, x.sum()], [mt.tensor([10.0, 20.0]), None])
    see.value(x.grad)
    x.backward(mt.tensor([1.0, 1.0]))
    see.value(x.grad)
    mt.autograd.backward((x * 2).sum(), grad_tensors=mt.tensor(3.0))
    see.value(x.grad)


@shows("2 backward(tensors, ...)")
def sums_twice_over_the_same_root(mt, see):
    x, y = pair(mt)
    c = (x * y).sum()
    with see.order(c):
        mt.autograd.backward([c, c], [mt.tensor(2.0), None])
    see.value(x.grad, y.grad)


@shows("2 backward(tensors, ...)")
def one_root_leads_to_another(mt, see):
    x, y = pair(mt)
    a = x * y
    b = (a * x).sum()
    with see.order(b):
        mt.autograd.backward([a, b], [mt.tensor([1.0, 10.0]), None])
    see.value(x.grad, y.grad)


@shows("2 implicit gradient")
def needs_one_element(mt, see):
    x, y = pair(mt)
    with see.raising():
        (x * y).backward()
    with see.raising():
        mt.autograd.grad(x * y, x)
    (x * y)[:1].reshape(1, 1, 1).backward()
    see.value(x.grad, y.grad)
    with see.raising():
        mt.zeros(0, requires_grad=True).clone().backward()


@shows("2 implicit gradient")
def needs_a_real_root(mt, see):
    z = mt.tensor(1 + 2j, requires_grad=True)
    with see.raising():
        (z * 2).backward()
    with see.raising():
        (z * 2).backward(mt.tensor(1.0))
    (z * z).backward(mt.tensor(1 + 0j))
    see.value(z.grad)


@shows("2 gradient's shape")
def must_be_equal(mt, see):
    x = mt.tensor([1.0, 2.0, 3.0], requires_grad=True)
    with see.raising():
        (x * 2).backward(mt.tensor([1.0, 2.0]))
    with see.raising():
        (x * 2).backward(mt.tensor(1.0))
    with see.raising():
        mt.autograd.grad(x.sum(), x, mt.tensor([1.0]))
    with see.raising():
        (x * 2).backward(2)
    with see.raising():
        (x * 2).backward([1.0, 2.0, 3.0])
    see.value(x.grad)


@shows(
    "2 gradient's shape",
    differs="the error names the root whose gradient has a wrong shape; PyTorch fails while it looks for that root",
)
def of_the_second_of_two_roots(mt, see):
    x = mt.tensor([1.0, 2.0, 3.0], requires_grad=True)
    with see.raising():
        mt.autograd.backward([x.sum(), x * 2], [None, mt.tensor([[1.0, 2.0, 3.0]])])


@shows("2 gradient's shape")
def its_dtype_is_cast(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: see.value(g))
    y.backward(mt.tensor([1.0, 2.0], dtype=mt.float64), retain_graph=True)
    see.value(x.grad)
    with see.raising():
        y.backward(mt.tensor([1, 2]))
    see.value(x.grad)


@shows("2 fewer gradients than roots")
def is_an_error(mt, see):
    x, y = pair(mt)
    with see.raising():
        mt.autograd.backward([x.sum(), y.sum()], [mt.tensor(1.0)])
    with see.raising():
        mt.autograd.backward([x.sum(), y.sum()], mt.tensor(1.0))
    with see.raising():
        mt.autograd.grad([x.sum(), y.sum()], [x], [mt.tensor(1.0)])
    with see.raising():
        mt.autograd.backward([x.sum()], [mt.tensor(1.0), mt.tensor(1.0)])
    see.value(x.grad, y.grad)


@shows("2 root without history")
def is_an_error_too(mt, see):
    x, _ = pair(mt)
    c = mt.tensor(1.0)
    with see.raising():
        c.backward()
    with see.raising():
        mt.tensor([1.0, 2.0]).backward()
    with see.raising():
        mt.autograd.backward([x.sum(), c])
    with see.raising():
        x.sum().detach().backward()
    with mt.no_grad():
        y = x.sum()
    with see.raising():
        y.backward()
    with see.raising():
        mt.autograd.grad(c, x)
    see.value(x.grad)


@shows("2 retain_graph=None")
def takes_the_value_of_create_graph(mt, see):
    x, y = pair(mt)
    z = (x * y).sum()
    z.backward(create_graph=True)
    z.backward()
    see.value(x.grad)
    with see.raising():
        z.backward()
    w = (x * y).sum()
    w.backward(create_graph=True, retain_graph=False)
    with see.raising():
        w.backward()
    v = (x * y).sum()
    v.backward(retain_graph=True)
    v.backward(retain_graph=False)
    with see.raising():
        v.backward(retain_graph=True)
    see.value(x.grad, y.grad)


@shows("2 create_graph=True")
def records_the_backward_pass(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x * x).sum()
    (g,) = mt.autograd.grad(y, x, create_graph=True)
    see.value(g)
    (h,) = mt.autograd.grad(g.sum(), x, create_graph=True)
    (t,) = mt.autograd.grad(h.sum(), x)
    see.value(h, t)
    y.backward(create_graph=True)
    see.value(x.grad)
    x.grad.sum().backward()
    see.value(x.grad)


@shows("2 create_graph=True")
def of_something_linear_gives_a_constant(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    (g,) = mt.autograd.grad((x * 3).sum(), x, create_graph=True)
    see.value(g)
    with see.raising():
        g.sum().backward()


@shows("2 create_graph=True")
def follows_the_first_gradient_too(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    v = mt.tensor([3.0, 4.0], requires_grad=True)
    (g,) = mt.autograd.grad(x * x, x, v, create_graph=True)
    see.value(g)
    g.sum().backward()
    see.value(x.grad, v.grad)
    (g,) = mt.autograd.grad(x * x, x, v)
    see.value(g)


@shows("2 inputs=")
def limits_what_accumulates(mt, see):
    x, y = pair(mt)
    z = x * y
    w = (z * z).sum()
    with see.order(w):
        w.backward(inputs=[x], retain_graph=True)
    see.value(x.grad, y.grad)
    with see.order(w):
        w.backward(inputs=y, retain_graph=True)
    see.value(x.grad, y.grad)
    with see.order(w):
        w.backward(inputs=[z], retain_graph=True)
    see.value(x.grad, y.grad, z.grad)
    see(z.retains_grad)
    with see.order(w):
        w.backward(inputs=(z, x), retain_graph=True)
    see.value(x.grad, y.grad, z.grad)
    w.backward()
    see.value(x.grad, y.grad, z.grad)


@shows("2 inputs=")
def may_be_unused_but_not_empty_or_without_grad(mt, see):
    x, y = pair(mt)
    z = (x * x).sum()
    z.backward(inputs=[y], retain_graph=True)
    see.value(x.grad, y.grad)
    with see.raising():
        z.backward(inputs=[])
    with see.raising():
        z.backward(inputs=())
    with see.raising():
        z.backward(inputs=[mt.tensor([1.0])])
    z.backward(inputs={"x": x})
    see.value(x.grad, y.grad)


@shows("2 inputs=")
def may_be_the_root(mt, see):
    x, _ = pair(mt)
    z = x * x
    z.backward(mt.tensor([1.0, 2.0]), inputs=[z], retain_graph=True)
    see.value(x.grad, z.grad)
    x.backward(mt.tensor([1.0, 2.0]), inputs=[x])
    see.value(x.grad)


@shows("2 grad(outputs, inputs, ...)")
def returns_a_tuple_and_leaves_grad_alone(mt, see):
    x, y = pair(mt)
    z = (x * y).sum()
    with see.order(z):
        result = mt.autograd.grad(z, [x, y], retain_graph=True)
    see(type(result).__name__, len(result))
    see.value(*result, x.grad, y.grad)
    see.value(*mt.autograd.grad(z, x, retain_graph=True))
    see.value(*mt.autograd.grad([z, z * 2], (x, x), retain_graph=True))
    named = mt.autograd.grad(z, {"a": x, "b": y}, retain_graph=True)
    see(list(named))
    see.value(*named.values())
    see.value(*mt.autograd.grad(outputs=z, inputs=x, grad_outputs=mt.tensor(5.0), only_inputs=True))


@shows("2 grad(outputs, inputs, ...)")
def with_only_inputs_false_warns(mt, see):
    x, y = pair(mt)
    see.value(*mt.autograd.grad((x * y).sum(), x, only_inputs=False))


@shows("2 unused input")
def raises_or_is_none_or_zeros(mt, see):
    x, y = pair(mt)
    z = (x * x).sum()
    with see.raising():
        mt.autograd.grad(z, [x, y], retain_graph=True)
    with see.raising():
        mt.autograd.grad(z, y, retain_graph=True, allow_unused=False)
    see.value(*mt.autograd.grad(z, [x, y], retain_graph=True, allow_unused=True))
    zeros = mt.autograd.grad(z, [x, y], retain_graph=True, materialize_grads=True)
    see(zeros[1])
    see.value(zeros[0])
    see(mt.autograd.grad(z, [x, y], retain_graph=True, materialize_grads=True, create_graph=True)[1])
    with see.raising():
        mt.autograd.grad(z, [x, y], allow_unused=False, materialize_grads=True)
    see.value(x.grad, y.grad)


@shows("2 input without requires_grad")
def is_refused(mt, see):
    x, _ = pair(mt)
    c = mt.tensor([1.0, 2.0])
    with see.raising():
        mt.autograd.grad((x * c).sum(), c)
    with see.raising():
        mt.autograd.grad((x * c).sum(), [x, c], allow_unused=True)


@shows("2 no inputs")
def are_refused(mt, see):
    x, _ = pair(mt)
    with see.raising():
        mt.autograd.grad(x.sum(), [])
    with see.raising():
        mt.autograd.grad(x.sum(), ())


@shows("2 grad(y, y)")
def is_the_gradient_itself(mt, see):
    x, y = pair(mt)
    z = x * y
    v = mt.tensor([5.0, 6.0])
    with see.order(z):
        see.value(*mt.autograd.grad(z, z, v))
    see.value(*mt.autograd.grad(x, x, v))
    w = (z * 2).sum()
    with see.order(w):
        see.value(*mt.autograd.grad(w, z, retain_graph=True))
    with see.order(w):
        see.value(*mt.autograd.grad(w, [z, x], retain_graph=True))
    with see.order(w):
        see.value(*mt.autograd.grad(w, [w, z, y]))
    see.value(x.grad)


@shows("2 grad(y, y)")
def an_intermediate_input_that_was_written_to(mt, see):
    x, _ = pair(mt)
    y = x * 2
    z = y * 3
    y.mul_(5)
    w = (y * z).sum()
    see.value(*mt.autograd.grad(w, [y, z, x]))


@shows("9 dependency count")
def of_diamonds(mt, see):
    x, y = pair(mt)
    a = x * y
    b = a + x
    c = a * b
    d = (c + a + b).sum()
    see.graph(d)
    with see.order(d):
        d.backward()
    see.value(x.grad, y.grad)


@shows("9 dependency count")
def ignores_what_the_roots_do_not_reach(mt, see):
    x, y = pair(mt)
    a = x * y
    unused = a * 5
    b = (a * 2).sum()
    b.backward()
    see.value(x.grad, y.grad)
    with see.raising():
        unused.sum().backward()


@shows("9 order")
def is_by_sequence_number(mt, see):
    a, b = pair(mt)
    c = 2 * a
    d = 3 * b
    e = (c * d).sum()
    with see.order(e):
        e.backward(retain_graph=True)
    f = (3 * b) * (2 * a)
    with see.order(f, e):
        mt.autograd.backward([e, f.sum()], retain_graph=True)
    with see.order(f, e):
        mt.autograd.grad([f.sum(), e], [a, b])


@shows("9 order")
def of_a_deep_and_a_shallow_branch(mt, see):
    x, y = pair(mt)
    deep = x
    for _ in range(5):
        deep = deep * 2 + y
    shallow = y.exp()
    z = (deep * shallow).sum() + (x.sin() * y).sum()
    with see.order(z):
        z.backward()
    see.value(x.grad, y.grad)


@shows("9 input buffer")
def never_aliases_what_someone_holds(mt, see):
    x, y = pair(mt)
    v = mt.tensor([1.0, 1.0])
    z = x + y
    z.backward(v)
    see(x.grad is v, x.grad is y.grad)
    x.grad.add_(5)
    see.value(x.grad, y.grad, v)
    a, b = pair(mt)
    (a + a + a).backward(v)
    a.backward(v)
    see.value(v, a.grad)
    b.backward(v)
    b.backward(v)
    see.value(v, b.grad)


@shows("9 input buffer")
def keeps_what_a_hook_has_seen(mt, see):
    x, _ = pair(mt)
    seen = []
    y = x * 1
    y.register_hook(lambda g: seen.append(g))
    x.register_hook(lambda g: seen.append(g))
    (y + y * y + y.exp()).sum().backward()
    (x * 2).sum().backward()
    see.value(*seen, x.grad)


@shows("9 freeing")
def happens_after_each_node(mt, see):
    x, y = pair(mt)
    z = (x * y).sum()
    z.backward()
    with see.raising():
        z.backward()
    with see.raising():
        mt.autograd.grad(z, x)
    a = (x + y).sum()
    a.backward()
    a.backward()
    see.value(x.grad, y.grad)


@shows("9 freeing")
def of_a_shared_part(mt, see):
    x, y = pair(mt)
    shared = x * y
    first, second = (shared * 2).sum(), shared.exp().sum()
    first.backward()
    see.value(x.grad)
    with see.raising():
        second.backward()
    see.value(x.grad)


@shows("9 freeing")
def keeps_what_only_an_untaken_path_needs(mt, see):
    x, y = pair(mt)
    a = x.exp()
    b = y.exp()
    z = (a * b).sum()
    mt.autograd.grad(z, x)
    with see.raising():
        mt.autograd.grad(z, y)
    see.value(*mt.autograd.grad(b.sum(), y))
    with see.raising():
        mt.autograd.grad(a.sum(), x)


@shows("9 capture")
def stops_the_walk(mt, see):
    x, y = pair(mt)
    z = x * y
    w = z * z
    v = (w * x).sum()
    for wanted in ([z], [w], [z, w], [x], [x, w], [v], [v, y]):
        with see.order(v):
            see.value(*mt.autograd.grad(v, wanted, retain_graph=True))


@shows("9 capture")
def is_taken_where_hooks_have_run(mt, see):
    x, y = pair(mt)
    z = x * y
    z.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: g * 100)
    w = (z * 2).sum()
    see.value(*mt.autograd.grad(w, z, retain_graph=True))
    see.value(*mt.autograd.grad(w, x, retain_graph=True))
    see.value(*mt.autograd.grad(w, [z, x], retain_graph=True))
    w.backward(inputs=[z, x])
    see.value(z.grad, x.grad, y.grad)


@shows("9 undefined gradients")
def travel_as_none(mt, see):
    class Stop(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return None

    x, y = pair(mt)
    a = x * y
    b = Stop.apply(a)
    c = b.exp() + y
    with see.order(c):
        c.sum().backward()
    see.value(x.grad, y.grad)


@shows("9 undefined gradients")
def at_a_node_that_was_freed_or_overwritten(mt, see):
    class Stop(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return None

    x, y = pair(mt)
    a = x * y
    a.sum().backward()
    with see.raising():
        Stop.apply(a).sum().backward()
    b = x * 2
    c = b * y
    b.add_(1)
    with see.raising():
        Stop.apply(c).sum().backward()
    see.value(x.grad)


@shows("9 accumulation")
def adds_in_place_unless_recorded(mt, see):
    x, _ = pair(mt)
    (x * x).sum().backward()
    first = x.grad
    (x * x).sum().backward()
    see(x.grad is first)
    see.value(x.grad)
    (x * x).sum().backward(create_graph=True)
    see(x.grad is first)
    see.value(first)
    see(x.grad)
    second = x.grad
    (x * x).sum().backward()
    see(x.grad is second)
    see.value(x.grad)


@shows("9 accumulation")
def with_history_is_named_copy_backwards(mt, see):
    x, y = pair(mt)
    (x * x).sum().backward(create_graph=True)
    see(x.grad)
    (x * 3 + y).sum().backward(create_graph=True)
    see(x.grad)
    see(y.grad)


@shows("9 accumulation")
def into_a_gradient_of_the_users_own(mt, see):
    x, y = pair(mt)
    mine = mt.tensor([100.0, 200.0])
    x.grad = mine
    (x * x).sum().backward()
    see(x.grad is mine)
    see.value(mine)
    y.grad = y.detach()
    (y * y).sum().backward()
    see.value(y.grad, y)


@shows("9 accumulation")
def does_nothing_after_requires_grad_was_cleared(mt, see):
    x, y = pair(mt)
    z = (x * y).sum()
    x.requires_grad_(False)
    z.backward()
    see.value(x.grad, y.grad)


@shows("9 accumulation")
def of_a_leaf_that_became_a_result(mt, see):
    x, y = pair(mt)
    z = (x + y).sum()
    x.requires_grad_(False)
    x.mul_(y)
    see(x)
    with see.raising():
        z.backward()
    see.value(y.grad)


@shows("9 iterative")
def walks_a_long_chain(mt, see):
    x = mt.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(20000):
        y = y + 1
    y.backward()
    see.value(x.grad)
    del y


@shows("9 errors mid-way")
def surface_unchanged(mt, see):
    class OwnError(Exception):
        pass

    def hook(g):
        raise OwnError("from a hook")

    x, y = pair(mt)
    z = x * y
    handle = z.register_hook(hook)
    try:
        (z * 2).sum().backward()
    except OwnError as error:
        see(str(error))
    see.value(x.grad, y.grad)
    handle.remove()
    (x * y).sum().backward()
    see.value(x.grad, y.grad)
    see(mt.is_grad_enabled())


@shows("9 reentrant backward")
def runs_inside_a_node(mt, see):
    x, y = pair(mt)

    class Inner(mt.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a * 2

        @staticmethod
        def backward(ctx, g):
            (a,) = ctx.saved_tensors
            see(mt.is_grad_enabled())
            with mt.enable_grad():
                b = a.detach().requires_grad_()
                (b * b * y).sum().backward()
            see(mt.is_grad_enabled())
            see.value(b.grad, y.grad)
            return g * b.grad

    (Inner.apply(x) * y).sum().backward()
    see.value(x.grad, y.grad)


@shows("9 reentrant backward")
def passes_its_errors_on(mt, see):
    x, y = pair(mt)

    class Inner(mt.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 2

        @staticmethod
        def backward(ctx, g):
            with mt.enable_grad():
                (y * 2).backward()
            return g

    with see.raising():
        Inner.apply(x).sum().backward()
    see(mt.is_grad_enabled())
    (x * y).sum().backward()
    see.value(x.grad, y.grad)


@shows("9 threads")
def drive_their_own_pass(mt, see):
    x, _ = pair(mt)
    found = []

    def work():
        found.append(mt.is_grad_enabled())
        y = (x * x).sum()
        found.append(mt.autograd.grad(y, x)[0].tolist())

    with mt.no_grad():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        see(mt.is_grad_enabled())
    see(found)


@shows("9 freeing")
def a_graph_dies_with_its_last_result(mt, see):
    import gc

    gc.disable()
    try:
        x, y = pair(mt)
        z = (x * y).exp().sum()
        node = weakref.ref(z.grad_fn) if mt.__name__ == "microtape" else None
        z.backward()
        del z
        see(node is None or node() is None)
    finally:
        gc.enable()


@shows("2 is_grads_batched")
def the_leading_dimension_is_a_batch(mt, see):
    x = mt.tensor([1.0, 2.0, 3.0], requires_grad=True)
    w = mt.tensor(2.0, requires_grad=True)
    y = x.exp() * w
    batch = mt.eye(3)
    see.value(*mt.autograd.grad(y, [x, w], batch, is_grads_batched=True, retain_graph=True))
    see.value(*mt.autograd.grad((y, x * 2), [x], (batch, batch * 3), is_grads_batched=True, retain_graph=True))
    found = mt.autograd.grad(y, x, batch[:2], is_grads_batched=True, create_graph=True)
    see(found[0].requires_grad, found[0].is_leaf)
    see.value(*mt.autograd.grad(found[0].sum(), [x, w]))
    see(x.grad, w.grad)


@shows("2 is_grads_batched")
def with_what_is_unused(mt, see):
    x, unused = mt.ones(2, requires_grad=True), mt.ones(3, requires_grad=True)
    y = x * x
    options = {"is_grads_batched": True, "retain_graph": True}
    see.value(*mt.autograd.grad(y, [x, unused], mt.eye(2), allow_unused=True, **options))
    with see.raising():
        mt.autograd.grad(y, [x, unused], mt.eye(2), **options)
    see.value(*mt.autograd.grad(y, [x, unused], mt.eye(2), materialize_grads=True, **options))
    with see.raising():
        mt.autograd.grad(y, x, mt.ones(3), **options)
    with see.raising(text=False):  # torch's message names another shape
        mt.autograd.grad(y, x, mt.ones(2, 3), **options)
    with see.raising():
        mt.autograd.grad((y, x.sum()), x, (mt.ones(3, 2), mt.ones(4)), **options)
    with see.raising():
        mt.autograd.grad(y, x, None, **options)
    number, one = y.sum(), mt.tensor(1.0)
    for roots, batches in (
        (number, None),
        ((number, y), (None, mt.eye(2))),
        ((y, number), (mt.eye(2), None)),
        ((y, number), (None, mt.ones(2))),
        ((number, y), None),
        ((number, y), (one, None)),
        (number, one),
        (y, one),
        (y, mt.ones(0, 2)),
    ):
        with see.raising():
            mt.autograd.grad(roots, x, batches, **options)
    mt.autograd.grad(y, x, mt.eye(2), is_grads_batched=True)
    with see.raising():
        mt.autograd.grad(y, x, mt.eye(2), is_grads_batched=True)


def nested(mt, end=None):
    """A Function whose backward runs a backward through itself, `left` levels deep."""

    class Nested(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, left):
            ctx.save_for_backward(x)
            ctx.left = left
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            if ctx.left == 0:
                if end is not None:
                    end()
                return grad * 2 * x, None
            with mt.enable_grad():
                inner = x.detach().requires_grad_()
                Nested.apply(inner, ctx.left - 1).backward(grad)
            return inner.grad, None

    return Nested


@shows("9 reentrant backward")
def two_thousand_deep(mt, see):
    x = mt.tensor(3.0, requires_grad=True)
    nested(mt).apply(x, 2000).backward()
    see.value(x.grad)


@shows("9 reentrant backward")
def an_error_deep_inside(mt, see):
    def fail():
        raise ValueError("at the end")

    x = mt.tensor(3.0, requires_grad=True)
    with see.raising():
        nested(mt, fail).apply(x, 300).backward()
    see.value(x.grad)


@shows("9 reentrant backward")
def the_state_deep_inside(mt, see):
    packed = []

    def look():
        see(mt.is_grad_enabled(), mt._C._current_graph_task_id() != -1, mt._C._current_autograd_node())
        with mt.enable_grad():
            mt.ones(1, requires_grad=True).exp()
        see(len(packed))

    x = mt.tensor(3.0, requires_grad=True)
    with mt.autograd.graph.saved_tensors_hooks(
        lambda tensor: (packed.append(0), tensor.detach())[1], lambda kept: kept
    ):
        nested(mt, look).apply(x, 200).backward()
        x.exp()
    x.exp()
    see(len(packed))


@shows("9 reentrant backward")
def hooks_and_callbacks_deep(mt, see):
    ran = []

    def build(left, register):
        x = mt.ones(1, requires_grad=True)
        y = x * 2

        def go_on(*_):
            ran.append(left)
            if left:
                with mt.enable_grad():
                    build(left - 1, register).backward()

        register(x, y, go_on)
        return y

    def queue(x, y, hook):
        y.register_hook(lambda grad: mt.autograd.Variable._execution_engine.queue_callback(hook))

    for register in (
        lambda x, y, hook: y.register_hook(hook),
        lambda x, y, hook: x.register_post_accumulate_grad_hook(hook),
        lambda x, y, hook: y.grad_fn.register_hook(hook),
        queue,
    ):
        build(150, register).backward()
        see(len(ran))


def times_ten(tensor):
    """Write to the tensor's memory."""
    tensor.detach().mul_(10)


@shows("9 accumulation")
def gradients_of_leaves_share_no_memory(mt, see):
    for function in (lambda x, y: x + y, lambda x, y: (x + y).exp(), lambda x, y: x - y, lambda x, y: x.view(3, 1) + y):
        x, y = mt.ones(3, requires_grad=True), mt.ones(3, requires_grad=True)
        z = function(x, y)
        gradient = mt.ones_like(z)
        z.backward(gradient, retain_graph=True)
        times_ten(x.grad)
        see.value(x.grad, y.grad, gradient)
        gradient.mul_(3)
        see.value(x.grad, y.grad, gradient)
        z.sum().backward()
        times_ten(y.grad)
        see.value(x.grad, y.grad)
    x, gradient = mt.ones(3, requires_grad=True), mt.ones(3)
    x.backward(gradient)
    times_ten(gradient)
    see.value(x.grad)
    x.backward(gradient)
    times_ten(x.grad)
    see.value(x.grad, gradient)


@shows("9 accumulation")
def gradients_of_hooks_and_results_share_no_memory(mt, see):
    kept = []
    x = mt.ones(3, requires_grad=True)
    y = x + 1
    z = y + 1
    for tensor in (x, y, z):
        tensor.register_hook(kept.append)
    y.retain_grad()
    z.retain_grad()
    z.exp().sum().backward()
    for tensor in (x.grad, y.grad, z.grad):
        times_ten(tensor)
        see.value(x.grad, y.grad, z.grad)
    x, constant = mt.ones(3, requires_grad=True), mt.full((3,), 5.0)
    x.register_hook(lambda gradient: constant)
    (x * 2).sum().backward()
    times_ten(x.grad)
    see.value(constant)
    constant.mul_(3)
    see.value(x.grad)


@shows("9 accumulation")
def gradients_of_leaves_have_the_layout_of_the_leaf(mt, see):
    rows, columns, gaps = mt.ones(2, 3), mt.ones(3, 2).t(), mt.ones(4, 3)[::2]
    expanded = mt.ones(1, 3).expand(2, 3)
    for leaf in (rows, columns, gaps, expanded):
        for function in (
            lambda x: x.t().exp(),
            lambda x: x * 2,
            lambda x: x.exp(),
            lambda x: x + x,
            lambda x: x @ mt.ones(3, 4),
            lambda x: mt.ones(4, 2) @ x,
            lambda x: mt.ones(4, 3) @ x.t(),
            lambda x: x.sum(0),
        ):
            x = leaf.detach().requires_grad_()
            for _ in range(2):
                function(x).sum().backward()
                see(x.stride(), x.grad.stride(), x.grad.is_contiguous())
            x.grad = None
            x.backward(mt.ones(3, 2).t())
            see(x.grad.stride())
    w = mt.ones(4, 3, requires_grad=True)
    (rows @ w.t()).sum().backward()
    see(w.grad.view(-1))
    see.value(mt.autograd.grad((rows @ w.t()).exp().sum(), w)[0].view(-1))
    y = w.t() * 1
    y.retain_grad()
    y.exp().sum().backward()
    see.value(y.grad.view(-1))


@shows(
    "2 grad(outputs, inputs, ...)",
    differs="`grad()` returns arrays of its own: writing to one of the gradients changes nothing else. In PyTorch two "
    "equal gradients, or a gradient and the first gradient that was given, may be one tensor, and a gradient may be an "
    "expanded view that cannot be written to.",
)
def gradients_that_share_memory(mt, see):
    x, y = mt.ones(3, requires_grad=True), mt.ones(3, requires_grad=True)
    of_x, of_y = mt.autograd.grad((x + y).exp().sum(), [x, y])
    times_ten(of_x)
    see.value(of_y)
    (of_x,) = mt.autograd.grad(x.sum(), x)
    with see.raising():
        times_ten(of_x)


@shows(
    "1 _version",
    differs="The version of a gradient counts the writes of your program, and for a `.grad` the accumulations; "
    "PyTorch's also counts writes inside of its formulas and sums, as in the gradient of `x[[0, 1]]`.",
)
def versions_of_gradients(mt, see):
    x = mt.ones(3, requires_grad=True)
    see([mt.autograd.grad(one.sum(), x)[0]._version for one in (x * 2, x[[0, 1]], x * x, x.sort().values)])


@shows(
    "9 order",
    differs="Leaves that become ready together are evaluated in the order in which they became ready. PyTorch takes "
    "them from a heap, whose order depends on how many they are: those of `stack([a, b, c, d])` as `a`, `c`, `b`, `d`.",
)
def leaves_that_become_ready_together(mt, see):
    order, leaves = [], [mt.ones(2, requires_grad=True) for _ in range(4)]
    for i, leaf in enumerate(leaves):
        leaf.register_hook(lambda gradient, i=i: order.append(i))
    mt.stack(leaves).sum().backward()
    see(order)
