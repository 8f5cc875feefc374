"""Sections 4 and 5 of the semantics: hooks and grad modes."""

import asyncio
import itertools
import threading

from tests.parity.rows import shows


def leaf(mt, *values):
    return mt.tensor(list(values) or [1.0, 2.0], requires_grad=True)


@shows("4 Tensor.register_hook")
def replaces_the_gradient(mt, see):
    x = leaf(mt)
    y = x * 2
    y.register_hook(lambda g: see.value(g))
    y.register_hook(lambda g: g * 10)
    y.register_hook(lambda g: see.value(g))
    x.register_hook(lambda g: g + 1)
    x.register_hook(lambda g: see.value(g))
    (y * y + y).sum().backward()
    see.value(x.grad)


@shows("4 Tensor.register_hook")
def needs_requires_grad(mt, see):
    with see.raising():
        mt.tensor([1.0]).register_hook(lambda g: g)
    with see.raising():
        leaf(mt).detach().register_hook(lambda g: g)


@shows("4 Tensor.register_hook")
def checks_what_is_returned(mt, see):
    returned = []

    def f(g):
        return returned[-1]

    for value in (
        3,
        "a",
        mt.ones(3),
        mt.tensor(1.0),
        mt.ones(2, dtype=mt.float64),
        mt.ones(2, dtype=mt.int64),
        (1,),
    ):
        returned.append(value)
        x = leaf(mt)
        y = x * 2
        y.register_hook(f)
        with see.raising():
            y.sum().backward()
        see.value(x.grad)
        x.register_hook(f)
        with see.raising():
            (x * 2).sum().backward()
        see.value(x.grad)


@shows("4 Tensor.register_hook")
def fires_once_with_the_total_also_in_grad(mt, see):
    x = leaf(mt)
    y = x * 2
    y.register_hook(lambda g: see.value(g))
    x.register_hook(lambda g: see.value(g))
    z = (y + y * y).sum()
    see.value(*mt.autograd.grad(z, x, retain_graph=True))
    see.value(*mt.autograd.grad(z, y, retain_graph=True))
    z.backward(inputs=[y], retain_graph=True)
    z.backward()
    see.value(x.grad)


@shows("4 Tensor.register_hook")
def of_a_root(mt, see):
    x = leaf(mt)
    y = (x * 2).sum()
    y.register_hook(lambda g: g * 10)
    y.backward(retain_graph=True)
    see.value(x.grad, *mt.autograd.grad(y, y))


@shows("4 Tensor.register_hook")
def sees_tensors_with_a_graph_under_create_graph(mt, see):
    x = leaf(mt)
    y = x * x
    y.register_hook(lambda g: see(mt.is_grad_enabled(), g.requires_grad))
    y.register_hook(lambda g: g * x)
    (g,) = mt.autograd.grad((y * y).sum(), x, create_graph=True)
    see.value(g, *mt.autograd.grad(g.sum(), x))
    (g,) = mt.autograd.grad((y * y).sum(), x)
    see.value(g)


@shows("4 Tensor.register_hook")
def is_not_told_of_undefined_gradients(mt, see):
    class Stop(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return None

    x = leaf(mt)
    y = x * 2
    y.register_hook(lambda g: see(g is None))
    x.register_hook(lambda g: see(g is None))
    y.retain_grad()
    y.grad_fn.register_prehook(lambda gs: see([g is None for g in gs]))
    y.grad_fn.register_hook(lambda gi, go: see([g is None for g in (*gi, *go)]))
    x.register_post_accumulate_grad_hook(lambda t: see("post", t.grad is None))
    Stop.apply(y).sum().backward()
    see.value(x.grad)


@shows("4 handle")
def can_be_removed_twice_and_during_backward(mt, see):
    x = leaf(mt)
    y = x * 2
    first = y.register_hook(lambda g: g * 10)
    first.remove()
    first.remove()
    second = y.register_hook(lambda g: (see("second"), third.remove())[2:] or None)
    third = y.register_hook(lambda g: g * 100)
    z = y.sum()
    z.backward(retain_graph=True)
    see.value(x.grad)
    z.backward()
    see.value(x.grad)
    second.remove()
    with x.register_hook(lambda g: g * 7):
        (x * 1).sum().backward()
    see.value(x.grad)
    (x * 1).sum().backward()
    see.value(x.grad)


@shows("4 handle")
def hooks_added_during_backward(mt, see):
    x = leaf(mt)
    y = x * 2

    def add(g):
        y.register_hook(lambda g: see("late"))
        x.register_hook(lambda g: see("on x"))

    y.register_hook(add)
    z = y.sum()
    z.backward(retain_graph=True)
    z.backward()
    see.value(x.grad)


@shows("4 retain_grad")
def runs_after_all_tensor_hooks(mt, see):
    x = leaf(mt)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    y.grad_fn.register_prehook(lambda gs: (gs[0] * 100,))
    y.sum().backward()
    see.value(x.grad, y.grad)


@shows("4 in-place and hooks")
def a_hook_stays_with_the_old_node(mt, see):
    x = leaf(mt)
    y = x * 2
    y.register_hook(lambda g: see.value(g))
    y.mul_(5)
    y.register_hook(lambda g: see.value(g))
    y.register_hook(lambda g: g * 100)
    y.sum().backward()
    see.value(x.grad)


@shows("4 in-place and hooks")
def of_a_view_and_its_base(mt, see):
    x = leaf(mt)
    y = x * 2
    v = y[:1]
    y.register_hook(lambda g: (see("y"), see.value(g))[2:] or None)
    v.register_hook(lambda g: (see("v"), see.value(g))[2:] or None)
    v.mul_(5)
    y.register_hook(lambda g: (see("y later"), see.value(g))[2:] or None)
    v.register_hook(lambda g: (see("v later"), see.value(g))[2:] or None)
    (y * y).sum().backward(retain_graph=True)
    see.value(x.grad)
    (v * v).sum().backward()
    see.value(x.grad)


@shows("4 in-place and hooks")
def stay_on_a_tensor_that_is_detached_in_place(mt, see):
    for written_before, written_after in itertools.product((False, True), repeat=2):
        x = leaf(mt)
        y = (x * 2).chunk(1)[0] * 3
        z = y * 4
        first = y.register_hook(lambda g: see.value(g))
        if written_before:
            y.mul_(5)
        second = y.register_hook(lambda g: g * 100)
        y.detach_()
        z.sum().backward(retain_graph=True)
        if written_after:
            y.mul_(x)
            y.detach_()
        y.requires_grad_()
        (y * 6).sum().backward()
        see.value(x.grad, y.grad)
        y.register_hook(lambda g: see.value(g))
        first.remove()
        second.remove()
        (y + z).sum().backward()
        see.value(x.grad, y.grad)


@shows("4 in-place and hooks")
def of_a_leaf_go_as_it_is_overwritten(mt, see):
    y = leaf(mt)
    y.register_hook(lambda g: see("leaf", g.tolist()))
    y.register_post_accumulate_grad_hook(lambda y: see("accumulated", y.grad.tolist()))  # which comes back
    y.requires_grad_(False)
    y.mul_(leaf(mt))
    y.register_hook(lambda g: see("result", g.tolist()))
    y.sum().backward()
    y.detach_().requires_grad_()
    y.sum().backward()


HOOKS_AFTER_WRITES = (
    "a hook registered on a view after its base was written to runs, where torch drops it; an output that retains its "
    "gradient keeps it after a write to it, where torch moves that of the Function's first output"
)


@shows("4 in-place and hooks", differs=HOOKS_AFTER_WRITES)
def of_outputs_of_which_the_last_is_overwritten(mt, see):
    class Both(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g, h):
            return g * 2 + h * 3

    x = mt.ones(2, requires_grad=True)
    y, z = Both.apply(x)
    y.retain_grad()
    z.retain_grad()
    z.mul_(5)
    (y + z).sum().backward()
    see.value(x.grad, y.grad, z.grad)


@shows("4 in-place and hooks", differs=HOOKS_AFTER_WRITES)
def of_a_view_whose_base_changed(mt, see):
    x = leaf(mt)
    y = x * 2
    v = y[:1]
    v.register_hook(lambda g: (see("v"), see.value(g))[2:] or None)
    y.mul_(5)
    v.register_hook(lambda g: (see("v later"), see.value(g))[2:] or None)
    v.sum().backward()
    see.value(x.grad)


@shows("4 register_post_accumulate_grad_hook")
def runs_after_the_gradient_was_added(mt, see):
    x = leaf(mt)
    see_all = []
    x.register_post_accumulate_grad_hook(lambda t: (see(t is x, mt.is_grad_enabled()), see.value(t.grad))[2:] or None)
    handle = x.register_post_accumulate_grad_hook(lambda t: t.grad.mul_(10) and None)
    (x * x).sum().backward()
    see.value(x.grad)
    handle.remove()
    (x * x).sum().backward()
    see.value(x.grad, *see_all)
    mt.autograd.grad((x * x).sum(), x)
    (x * x).sum().backward(inputs=[x])


@shows("4 register_post_accumulate_grad_hook")
def is_for_leaves_only(mt, see):
    with see.raising():
        (leaf(mt) * 2).register_post_accumulate_grad_hook(lambda t: None)
    with see.raising():
        mt.tensor([1.0]).register_post_accumulate_grad_hook(lambda t: None)


@shows("4 register_post_accumulate_grad_hook")
def must_return_none(mt, see):
    x = leaf(mt)
    x.register_post_accumulate_grad_hook(lambda t: t)
    with see.raising():
        (x * x).sum().backward()
    see.value(x.grad)


@shows("4 register_post_accumulate_grad_hook")
def may_step_the_leaf(mt, see):
    x = leaf(mt)

    def step(t):
        t.add_(t.grad, alpha=-0.1)
        t.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * x).sum().backward()
    see(x)
    (x * x).sum().backward()
    see(x)
    see.value(x.grad)


@shows("4 Node.register_prehook")
def replaces_what_arrives(mt, see):
    x = leaf(mt)
    y = x * 2
    handle = y.grad_fn.register_prehook(lambda gs: (gs[0] * 10,))
    y.grad_fn.register_prehook(lambda gs: see.value(*gs))
    y.register_hook(lambda g: see.value(g))
    z = y.sum()
    z.backward(retain_graph=True)
    see.value(x.grad)
    handle.remove()
    z.backward(retain_graph=True)
    see.value(x.grad)
    see.value(*mt.autograd.grad(z, y))


@shows("4 Node.register_prehook")
def checks_what_is_returned_before(mt, see):
    for returned in ((1, 2), (mt.ones(2), mt.ones(2)), 3, mt.ones(2), (mt.ones(3),), (None,), (3,), [mt.ones(2)], ()):
        x = leaf(mt)
        y = x * 2

        def f(gs, returned=returned):
            return returned

        y.grad_fn.register_prehook(f)
        with see.raising():
            y.sum().backward()
        see.value(x.grad)


@shows("4 Node.register_hook")
def replaces_what_leaves(mt, see):
    x, y = leaf(mt), leaf(mt, 3.0, 4.0)
    z = x * y
    z.grad_fn.register_hook(lambda gi, go: (see(len(gi), len(go)), see.value(*gi, *go))[2:] or None)
    z.grad_fn.register_hook(lambda gi, go: (gi[0] * 10, None))
    z.grad_fn.register_hook(lambda gi, go: (see(gi[1] is None), see.value(gi[0], *go))[2:] or None)
    z.sum().backward()
    see.value(x.grad, y.grad)


@shows("4 Node.register_hook")
def checks_what_is_returned_after(mt, see):
    for returned in ((1,), (mt.ones(2), mt.ones(2)), 3, mt.ones(2), (mt.ones(3), None), (None, None), [mt.ones(2)], ()):
        x = leaf(mt)
        y = x * 2

        def f(gi, go, returned=returned):
            return returned

        y.grad_fn.register_hook(f)
        with see.raising():
            y.sum().backward()
        see.value(x.grad)


@shows("4 Node.register_hook")
def of_an_accumulator(mt, see):
    x = leaf(mt)
    y = x * 2
    accumulator = y.grad_fn.next_functions[0][0]
    accumulator.register_prehook(lambda gs: (see("pre"), (gs[0] * 10,))[1])
    accumulator.register_hook(lambda gi, go: (see("post", len(gi)), see.value(*go, x.grad))[2:] or None)
    z = y.sum()
    z.backward(retain_graph=True)
    see.value(x.grad)
    mt.autograd.grad(z, x, retain_graph=True)
    z.backward(inputs=[x])
    see.value(x.grad)
    del accumulator, y, z
    (x * 2).sum().backward()
    see.value(x.grad)


@shows("4 Node.register_hook")
def of_a_function_of_several_outputs(mt, see):
    class Two(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, k, y):
            return x * 2, "a", y * 3

        @staticmethod
        def backward(ctx, a, text, b):
            return a * 2, None, b * 3

    x, y = leaf(mt), leaf(mt)
    a, _, b = Two.apply(x, 1, y)
    node = a.grad_fn
    node.register_prehook(lambda gs: see([g is None for g in gs]))
    node.register_hook(lambda gi, go: see([g is None for g in gi], [g is None for g in go]))
    a.register_hook(lambda g: see("a"))
    b.register_hook(lambda g: (see("b", g is None), None if g is None else g * 10)[1])
    b.retain_grad()
    a.sum().backward(retain_graph=True)
    see.value(x.grad, y.grad, b.grad)
    (a * b).sum().backward()
    see.value(x.grad, y.grad, b.grad)


@shows("4 order on one tensor")
def of_all_kinds(mt, see):
    x = leaf(mt)
    y = x * 2
    node = y.grad_fn
    accumulator = node.next_functions[0][0]
    node.register_hook(lambda gi, go: see("y node post", y.grad is not None))
    node.register_prehook(lambda gs: see("y node pre", y.grad is not None))
    y.retain_grad()
    y.register_hook(lambda g: see("y tensor", y.grad is not None))
    x.register_post_accumulate_grad_hook(lambda t: see("x post accumulate", x.grad is not None))
    accumulator.register_hook(lambda gi, go: see("x node post", x.grad is not None))
    accumulator.register_prehook(lambda gs: see("x node pre", x.grad is not None))
    x.register_hook(lambda g: see("x tensor", x.grad is not None))
    y.sum().backward()


@shows("5 no_grad, enable_grad")
def as_contexts_and_decorators(mt, see):
    x = leaf(mt)
    with mt.no_grad():
        see(mt.is_grad_enabled(), (x * 2).requires_grad)
        with mt.enable_grad():
            see(mt.is_grad_enabled(), (x * 2).requires_grad)
        see(mt.is_grad_enabled())
    see(mt.is_grad_enabled())

    @mt.no_grad()
    def f():
        "Text of f."
        return mt.is_grad_enabled()

    @mt.no_grad
    def g():
        return mt.is_grad_enabled()

    @mt.enable_grad()
    def h():
        return mt.is_grad_enabled()

    see(f(), g(), f.__name__, f.__doc__, g.__name__)
    with mt.no_grad():
        see(h(), mt.is_grad_enabled())
    try:
        with mt.no_grad():
            raise KeyError("out")
    except KeyError:
        see(mt.is_grad_enabled())


@shows("5 no_grad, enable_grad", differs="one no_grad object can be entered twice; torch then leaves grad mode off")
def entered_twice(mt, see):
    mode = mt.no_grad()
    with mode:
        with mode:
            see(mt.is_grad_enabled())
        see(mt.is_grad_enabled())
    see(mt.is_grad_enabled())


@shows("5 no_grad, enable_grad")
def on_generators(mt, see):
    @mt.no_grad()
    def values():
        try:
            see("start", mt.is_grad_enabled())
            got = yield mt.is_grad_enabled()
            see(got, mt.is_grad_enabled())
            try:
                yield mt.is_grad_enabled()
            except KeyError:
                see("thrown", mt.is_grad_enabled())
                yield mt.is_grad_enabled()
            return "result"
        finally:
            see("closed", mt.is_grad_enabled())

    generator = values()
    see(mt.is_grad_enabled(), next(generator), mt.is_grad_enabled())
    see(generator.send("sent"), mt.is_grad_enabled())
    see(generator.throw(KeyError("k")), mt.is_grad_enabled())
    try:
        next(generator)
    except StopIteration as stop:
        see(stop.value, mt.is_grad_enabled())
    early = values()
    next(early)
    early.close()
    see(mt.is_grad_enabled())

    @mt.enable_grad()
    def outer():
        yield mt.is_grad_enabled()
        yield from values()

    with mt.no_grad():
        see(list(outer()), mt.is_grad_enabled())


@shows("5 no_grad, enable_grad", differs="@no_grad() also holds inside a coroutine function; torch's does not")
def on_coroutines(mt, see):
    @mt.no_grad()
    async def inside():
        before = mt.is_grad_enabled()
        await asyncio.sleep(0)
        return before, mt.is_grad_enabled()

    async def main():
        result = await inside()
        return result, mt.is_grad_enabled()

    see(asyncio.run(main()), mt.is_grad_enabled())


@shows("5 set_grad_enabled")
def takes_a_bool(mt, see):
    for arguments in ((), (1,), (None,)):
        with see.raising():
            mt.set_grad_enabled(*arguments)
    with mt.set_grad_enabled(mode=False):
        see(mt.is_grad_enabled())


@shows("5 set_grad_enabled")
def acts_at_once_and_restores_as_a_context(mt, see):
    x = leaf(mt)
    mt.set_grad_enabled(False)
    see(mt.is_grad_enabled(), x * 2)
    mt.set_grad_enabled(True)
    with mt.set_grad_enabled(False):
        see(mt.is_grad_enabled())
        mt.set_grad_enabled(True)
        see(mt.is_grad_enabled())
    see(mt.is_grad_enabled())

    @mt.set_grad_enabled(False)
    def f():
        return mt.is_grad_enabled()

    see(mt.is_grad_enabled(), f(), mt.is_grad_enabled())


@shows("5 grad mode inside backward")
def equals_create_graph(mt, see):
    x = leaf(mt)
    y = x * x
    y.register_hook(lambda g: see(mt.is_grad_enabled()))
    z = y.sum()
    z.backward(retain_graph=True)
    z.backward(retain_graph=True, create_graph=True)
    with mt.no_grad():
        z.backward(retain_graph=True)
        mt.autograd.grad(z, x, create_graph=True)
        see(mt.is_grad_enabled())
    see(mt.is_grad_enabled())


@shows("5 is_grad_enabled")
def belongs_to_its_thread(mt, see):
    seen = {}

    def look(name):
        seen[name] = mt.is_grad_enabled()
        mt.set_grad_enabled(False)

    with mt.no_grad():
        thread = threading.Thread(target=look, args=("inside of no_grad",))
        thread.start()
        thread.join()
        see(mt.is_grad_enabled())
    thread = threading.Thread(target=look, args=("outside",))
    thread.start()
    thread.join()
    see(seen, mt.is_grad_enabled())
    with mt.no_grad(), mt.enable_grad():
        see(mt.is_grad_enabled())


@shows("5 decorating a class")
def warns_and_decorates_what_makes_an_instance(mt, see):
    for decorate in (mt.no_grad(), mt.no_grad, mt.enable_grad(), mt.set_grad_enabled(False), mt.inference_mode()):

        @decorate
        class Model:
            def __init__(self):
                self.enabled = mt.is_grad_enabled()

            def run(self):
                return mt.is_grad_enabled()

        model = Model()
        see(model.enabled, model.run())


def modes(mt):
    return mt.is_grad_enabled(), mt.is_inference_mode_enabled()


@shows("5 grad mode inside backward")
def what_user_code_sets_ends_with_its_node(mt, see):
    class Sets(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            see(modes(mt))
            mt.set_grad_enabled(True)
            return grad * 2

    x, w = leaf(mt), leaf(mt)
    contexts = [mt.inference_mode(), mt.no_grad()]
    x.register_post_accumulate_grad_hook(lambda leaf: mt.set_grad_enabled(True) and None)
    w.register_hook(lambda grad: see(modes(mt)))
    y = x.exp() * w
    y.register_hook(lambda grad: contexts[0].__enter__())
    y.grad_fn.register_hook(lambda arriving, leaving: see(modes(mt)))
    z = Sets.apply(y)
    z.register_hook(lambda grad: (see(modes(mt)), mt.set_grad_enabled(True))[0])
    z.sum().backward()
    see(modes(mt), (mt.ones(1) * 2).is_inference())
    y = x * x
    y.register_hook(lambda grad: contexts[1].__enter__())
    (again,) = mt.autograd.grad((y * y).sum(), x, create_graph=True)
    see(modes(mt))
    see.value(again)


@shows("5 grad mode inside backward")
def what_callbacks_set_ends_with_them(mt, see):
    def queue(grad):
        mt.autograd.Variable._execution_engine.queue_callback(lambda: mt.set_grad_enabled(True) and None)
        mt.autograd.Variable._execution_engine.queue_callback(lambda: see(modes(mt)))

    x = leaf(mt)
    y = x * 2
    y.register_hook(queue)
    y.sum().backward()
    see(modes(mt))


@shows("5 grad mode inside backward")
def what_a_failing_hook_sets_ends_with_it(mt, see):
    def fail(grad):
        mt.set_grad_enabled(True)
        raise ValueError("no")

    y = leaf(mt) * 2
    y.register_hook(fail)
    loss = y.sum()
    with mt.no_grad(), see.raising():
        loss.backward()
    see(modes(mt))


@shows("5 no_grad, enable_grad")
def left_more_often_than_entered(mt, see):
    for context in (mt.no_grad(), mt.enable_grad(), mt.set_grad_enabled(False), mt.inference_mode()):
        for _ in range(2):
            with see.raising(text=False):
                context.__exit__(None, None, None)
            see(modes(mt))
        mt.set_grad_enabled(True)
        with context:
            see(modes(mt))
        with see.raising(text=False):
            context.__exit__(None, None, None)
        see(modes(mt))
        mt.set_grad_enabled(True)


@shows("4 register_post_accumulate_grad_hook")
def a_write_to_grad_is_seen_by_post_hooks(mt, see):
    def write(leaf):
        leaf.grad.mul_(10)

    x = leaf(mt)
    y = x * mt.tensor([2.0, 3.0]) + x * mt.tensor([3.0, 4.0])
    x.register_post_accumulate_grad_hook(write)
    accumulate = y.grad_fn.next_functions[0][0].next_functions[0][0]
    accumulate.register_hook(lambda none, gradients: see.value(gradients[0]))
    y.sum().backward(retain_graph=True)
    see.value(x.grad)
    y.sum().backward()
    see.value(x.grad)


@shows("4 register_post_accumulate_grad_hook")
def a_gradient_that_a_hook_kept_stays(mt, see):
    x, kept = leaf(mt), []
    y = x * mt.tensor([2.0, 3.0])
    x.register_hook(lambda grad: kept.append(grad))
    y.grad_fn.next_functions[0][0].register_hook(lambda none, gradients: kept.append(gradients[0]))
    y.sum().backward()
    with mt.no_grad():
        x.grad.mul_(100)
    see.value(x.grad, *kept)


@shows("4 Tensor.register_hook")
def writes_into_the_gradient(mt, see):
    for shape in ((2,), ()):
        x = mt.ones(shape, requires_grad=True)
        y = x * 3
        z = y * 5
        y.register_hook(lambda g: g.mul_(2).sum() and None)
        x.register_hook(lambda g: g.add_(1).sum() and None)
        z.backward(mt.ones(shape), retain_graph=True)
        see.value(x.grad, *mt.autograd.grad(z, [y, x], mt.ones(shape)))


@shows("4 Node.register_hook")
def writes_into_gradients_of_any_shape(mt, see):
    for shape in ((2,), ()):
        x = mt.ones(shape, requires_grad=True)
        y = x * 3
        z = y * 5
        y.grad_fn.register_prehook(lambda gs: gs[0].mul_(2).sum() and None)
        z.grad_fn.register_hook(lambda gs, arrived: gs[0].add_(1).sum() and None)
        z.backward(mt.ones(shape))
        see.value(x.grad)
    for size in (1, 2):
        x = mt.ones(size, requires_grad=True)
        total = (x * 2).sum()
        total.grad_fn.register_hook(lambda gs, arrived: gs[0].mul_(3).sum() and None)
        with see.raising():
            total.backward()
        see.value(x.grad)


@shows("4 Node.register_hook")
def sees_none_for_an_input_that_needs_no_gradient(mt, see):
    class Both(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * y

        @staticmethod
        def backward(ctx, g):
            return g * 2, g * 3

    x, y = mt.ones(2, requires_grad=True), mt.ones(2)
    for product in (x * y, Both.apply(x, y), Both.apply(y, x)):
        product.grad_fn.register_hook(lambda gs, arrived: see.value(*gs))
        product.sum().backward()
        see.value(x.grad)


@shows("4 Tensor.register_hook")
def on_a_view_that_becomes_a_leaf_of_its_own(mt, see):
    base = mt.ones(2, requires_grad=True)
    for mode in (mt.no_grad, mt.inference_mode):
        with mode():
            view = base.view(2)
            view.register_hook(lambda g: see("hook", g))
        view.register_post_accumulate_grad_hook(lambda p: see("accumulated", p.grad))
        view.requires_grad_()
        (view * 2).sum().backward()
        see.value(view.grad, base.grad)


@shows("4 Tensor.register_hook")
def that_write_to_repeated_gradients(mt, see):
    for writing in (lambda g: g.zero_(), lambda g: g.fill_(3), lambda g: g.mul_(2)):
        for reduce in (lambda y: y.sum(), lambda y: y.sum(0, True), lambda y: y.mean()):
            for place in ("tensor", "leaf", "before", "after", "several"):
                _write_to_gradient(mt, see, writing, reduce, place)


def _write_to_gradient(mt, see, writing, reduce, place):
    def write(g):
        with see.raising():
            writing(g)

    x = mt.ones((2, 3), requires_grad=True)
    y = x * 1
    z = reduce(y)
    if place in ("tensor", "leaf"):
        (y if place == "tensor" else x).register_hook(write)
    elif place == "before":
        y.grad_fn.register_prehook(lambda gs: write(gs[0]))
    elif place == "after":
        z.grad_fn.register_hook(lambda gs, _: write(gs[0]))
    else:
        mt.autograd.graph.register_multi_grad_hook([y], lambda gs: write(gs[0]))
    x.register_post_accumulate_grad_hook(lambda p: see.value(p.grad))
    z.backward(mt.ones_like(z))
