"""Section 11 of the semantics: checkpointing."""

import contextlib
import warnings

from tests.parity.rows import shows


def pair(mt):
    return mt.tensor([1.0, 2.0], requires_grad=True), mt.tensor([3.0, 4.0], requires_grad=True)


def counted(function):
    """The function, with counts of how often it began and how often it ended."""

    def run(*args, **kwargs):
        run.began += 1
        result = function(*args, **kwargs)
        run.ended += 1
        return result

    run.began = run.ended = 0
    return run


def checkpoint(mt, function, *args, **kwargs):
    kwargs.setdefault("use_reentrant", False)
    return mt.utils.checkpoint.checkpoint(function, *args, **kwargs)


@shows("11 checkpoint")
def recomputes_once_per_backward(mt, see):
    x, y = pair(mt)
    f = counted(lambda a, b: ((a * b).exp() + a).sin() * b)
    z = checkpoint(mt, f, x, y)
    see(f.began, f.ended, z)
    z.sum().backward(retain_graph=True)
    see(f.began, f.ended)
    see.value(x.grad, y.grad)
    z.sum().backward()
    see(f.began, f.ended)
    see.value(x.grad, y.grad)
    with see.raising():
        z.sum().backward()


@shows("11 checkpoint")
def stops_early_unless_told_not_to(mt, see):
    x, _ = pair(mt)
    steps = []

    def f(a):
        steps.append("exp")
        b = a.exp()
        steps.append("sin")
        c = b.sin()
        steps.append("add")
        return c + 1

    for options in ({}, {"early_stop": False}):
        del steps[:]
        checkpoint(mt, f, x, **options).sum().backward()
        see(steps)
    for enable in (True, False):
        del steps[:]
        with mt.utils.checkpoint.set_checkpoint_early_stop(enable):
            z = checkpoint(mt, f, x)
        z.sum().backward()
        see(steps)
    see.value(x.grad)


@shows("11 checkpoint")
def takes_and_returns_any_structure(mt, see):
    x, y = pair(mt)

    def f(pair_of_tensors, number, *, scale):
        a, b = pair_of_tensors["both"]
        return {"sum": (a * b).exp() * number, "list": [a * scale * b, "text", None]}

    out = checkpoint(mt, f, {"both": (x, y)}, 2, scale=mt.tensor(3.0))
    see(out["list"][1], out["list"][2])
    (out["sum"].sum() + out["list"][0].sum()).backward()
    see.value(x.grad, y.grad)


@shows("11 checkpoint")
def sees_tensors_that_are_no_arguments(mt, see):
    x, y = pair(mt)
    checkpoint(mt, lambda a: (a * y).exp() * y, x.detach()).sum().backward()
    see.value(x.grad, y.grad)


@shows("11 checkpoint")
def works_with_grad_and_double_backward(mt, see):
    x, y = pair(mt)
    f = counted(lambda a, b: (a * b).exp() * a**3)
    z = checkpoint(mt, f, x, y)
    (g,) = mt.autograd.grad(z.sum(), x, create_graph=True)
    see.value(g)
    see(f.began, f.ended)
    see.value(*mt.autograd.grad(g.sum(), (x, y)))
    see(f.began, f.ended)
    z = checkpoint(mt, f, x, y)
    z.sum().backward(inputs=[y])
    see.value(x.grad, y.grad)


@shows("11 checkpoint")
def nests(mt, see):
    x, y = pair(mt)
    inner = counted(lambda a: a.sin().exp())
    outer = counted(lambda a, b: checkpoint(mt, inner, a * b) * a)
    whole = counted(lambda a, b: checkpoint(mt, outer, a + b, b).tanh())
    z = checkpoint(mt, whole, x, y)
    see(inner.began, outer.began, whole.began, z)
    z.sum().backward()
    see(inner.began, outer.began, whole.began, inner.ended, outer.ended, whole.ended)
    see.value(x.grad, y.grad)


@shows("11 checkpoint")
def two_after_each_other(mt, see):
    x, y = pair(mt)
    log = []

    def f(name):
        def run(a):
            log.append(name)
            return (a * y).sin()

        return run

    z = checkpoint(mt, f("second"), checkpoint(mt, f("first"), x))
    z.sum().backward()
    see(log)
    see.value(x.grad, y.grad)


@shows("11 checkpoint")
def backward_inside_of_the_function(mt, see):
    x, _ = pair(mt)

    def keeps(a):
        b = a.sin()
        c = b.cos()
        (g,) = mt.autograd.grad(c.sum(), a, retain_graph=True)
        return c * g.detach()

    def frees(a):
        b = a.sin()
        c = b.cos()
        (g,) = mt.autograd.grad(c.sum(), a)
        return a.cos() * g

    for function in (keeps, frees):
        for early_stop in (True, False):
            z = checkpoint(mt, function, x, early_stop=early_stop)
            z.sum().backward()
            see.value(x.grad)


@shows("11 checkpoint")
def in_place_operations_inside(mt, see):
    x, y = pair(mt)

    def f(a, b):
        c = a * b
        c.mul_(b)
        c[0:1].exp_()
        return c.sin() * c

    checkpoint(mt, f, x, y).sum().backward()
    see.value(x.grad, y.grad)


@shows("11 checkpoint")
def an_input_that_was_overwritten(mt, see):
    x, y = pair(mt)
    a = x * 1
    z = checkpoint(mt, lambda a: (a * y).exp(), a)
    with mt.no_grad():
        a.add_(1)
    with see.raising():
        z.sum().backward()


@shows("11 checkpoint")
def without_grad_mode(mt, see):
    x, _ = pair(mt)
    f = counted(lambda a: a.exp())
    with mt.no_grad():
        z = checkpoint(mt, f, x)
    see(z, f.began)


@shows("11 checkpoint")
def a_saved_tensor_is_looked_at_outside_of_backward(mt, see):
    x, _ = pair(mt)
    f = counted(lambda a: (a * 1).exp() * 1)
    z = checkpoint(mt, f, x)
    node = z.grad_fn.next_functions[0][0]
    see.value(node._saved_result, node._saved_result)
    see(f.began)


@shows("11 checkpoint")
def unpacking_twice(mt, see):
    x, _ = pair(mt)

    class Twice(mt.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a * 2

        @staticmethod
        def backward(ctx, grad):
            ctx.saved_tensors  # noqa: B018
            ctx.saved_tensors  # noqa: B018
            return grad

    z = checkpoint(mt, Twice.apply, x)
    with see.raising():
        z.sum().backward()


def first_lines(see, function):
    try:
        function()
    except RuntimeError as error:
        see(type(error).__name__, str(error).partition("\nTip:")[0].partition("\nsaved metadata")[0])
    else:
        see("nothing was raised")


@shows("11 checkpoint")
def what_differs_from_run_to_run(mt, see):
    x, _ = pair(mt)

    def changing(first, again):
        runs = iter([first, again, again])
        return lambda a: next(runs)(a)

    more = changing(lambda a: a.exp(), lambda a: a.exp().sin())
    fewer = changing(lambda a: a.exp().sin(), lambda a: a.exp())
    shape = changing(lambda a: a.exp(), lambda a: (a.reshape(2, 1)).exp())
    dtype = changing(lambda a: a.exp(), lambda a: a.to(mt.float64).exp())
    for function in (more, fewer, shape, dtype):
        z = checkpoint(mt, function, x, early_stop=False)
        first_lines(see, lambda z=z: z.sum().backward())
    x.grad = None
    again = changing(lambda a: a.exp(), lambda a: a.exp().sin())
    checkpoint(mt, again, x).sum().backward()
    see.value(x.grad)
    unchecked = changing(lambda a: a.exp(), lambda a: a.exp().reshape(2, 1))
    checkpoint(mt, unchecked, x, determinism_check="none", early_stop=False).sum().backward()
    see.value(x.grad)


@shows("11 checkpoint")
def contexts_of_the_two_runs(mt, see):
    x, _ = pair(mt)

    @contextlib.contextmanager
    def saying(what):
        see("enter", what)
        yield
        see("leave", what)

    z = checkpoint(mt, lambda a: a.exp().sin(), x, context_fn=lambda: (saying("first"), saying("again")))
    see("between")
    with contextlib.suppress(ValueError):
        checkpoint(mt, lambda a: 1 / 0, x, context_fn=lambda: (contextlib.suppress(ValueError), saying("never")))
    see(z.shape == x.shape)


@shows("11 checkpoint")
def a_context_that_swallows_the_error(mt, see):
    x, _ = pair(mt)
    swallow = lambda: (contextlib.suppress(ZeroDivisionError), contextlib.nullcontext())  # noqa: E731
    with see.raising():
        checkpoint(mt, lambda a: 1 / 0, x, context_fn=swallow)
    with see.raising():
        checkpoint(mt, lambda a: 1 / 0, x)


@shows("11 checkpoint")
def options_that_do_not_go_together(mt, see):
    x, _ = pair(mt)
    for options in (
        {"use_reentrant": True, "debug": True},
        {"use_reentrant": True, "context_fn": lambda: (contextlib.nullcontext(), contextlib.nullcontext())},
        {"use_reentrant": True, "scale": 3},
        {"determinism_check": "all"},
        {"debug": True, "context_fn": lambda: (contextlib.nullcontext(), contextlib.nullcontext())},
    ):
        with see.raising():
            checkpoint(mt, lambda a: a.exp(), x, **options)


@shows("11 checkpoint")
def the_reentrant_form(mt, see):
    x, y = pair(mt)
    f = counted(lambda a, number, b: ((a * b).exp() * number, a * b, "text"))
    z, w, text = checkpoint(mt, f, x, 2, y, use_reentrant=True)
    see(f.began, z.requires_grad, z.grad_fn.name(), w.requires_grad, text)
    (z.sum() + w.sum()).backward()
    see(f.began)
    see.value(x.grad, y.grad)
    z = checkpoint(mt, lambda a: a.exp(), x, use_reentrant=True)
    with see.raising():
        mt.autograd.grad(z.sum(), x)
    z = checkpoint(mt, lambda a: a.exp(), x, use_reentrant=True)
    with see.raising():
        z.sum().backward(inputs=[x])
    z = checkpoint(mt, lambda a: a.detach(), x, use_reentrant=True)
    with see.raising():
        z.sum().backward()
    nested = checkpoint(
        mt, lambda a: checkpoint(mt, lambda b: b.sin(), a.exp(), use_reentrant=True) * a, x, use_reentrant=True
    )
    nested.sum().backward()
    see.value(x.grad)


@shows("11 checkpoint")
def says_that_a_choice_is_missing(mt, see):
    x, _ = pair(mt)
    mt.utils.checkpoint.checkpoint(lambda a: a.exp(), x).sum().backward()
    see.value(x.grad)
    mt.utils.checkpoint.checkpoint(lambda a: a.exp(), x.detach())


@shows("11 checkpoint")
def a_sequence_in_segments(mt, see):
    x, y = pair(mt)
    for use_reentrant in (False, True):
        functions = [counted(lambda a: (a * y).sin()) for _ in range(5)]
        z = mt.utils.checkpoint.checkpoint_sequential(functions, 2, x, use_reentrant=use_reentrant)
        z.sum().backward()
        see([one.began for one in functions])
        see.value(x.grad, y.grad)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mt.utils.checkpoint.checkpoint_sequential([lambda a: a.sin()] * 2, 2, x)
    see(str(caught[0].message))


@shows("11 checkpoint")
def early_stop_reaches_the_program_as_an_exception(mt, see):
    x, _ = pair(mt)
    caught = []

    def run(a):
        try:
            a = a.sin().exp()
        except Exception as error:
            caught.append(type(error).__name__)
        return a.clone()

    checkpoint(mt, run, x).sum().backward()
    see(caught)
    see.value(x.grad)


@shows("11 checkpoint")
def of_a_result_that_is_detached_later(mt, see):
    leaf = mt.ones(2, requires_grad=True)
    for use_reentrant in (False, True):
        x = leaf * 2
        y = mt.utils.checkpoint.checkpoint(lambda a: a * a, x, use_reentrant=use_reentrant)
        x.detach_()
        with see.raising():
            y.sum().backward()
    y = mt.utils.checkpoint.checkpoint(lambda a: a * a, leaf, use_reentrant=False)
    leaf.detach_()
    with see.raising(text=False):
        y.sum().backward()


def overwriting(mt, how):
    """A function that saves its sigmoid and overwrites it."""

    def function(a):
        z = a.sigmoid()
        if how == "unrecorded":
            with mt.no_grad():
                z.mul_(2)
            return z * z
        if how == "part":
            z[0].mul_(3)
            return z
        return z.sin_()

    return function


@shows("11 checkpoint")
def that_overwrites_what_it_saved_last(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    mt.utils.checkpoint.checkpoint(overwriting(mt, "all"), x, use_reentrant=False).sum().backward()
    see.value(x.grad)


@shows(
    "11 checkpoint",
    differs="What a checkpointed function saves and then overwrites keeps its values; torch's "
    "backward uses the overwritten values, unless the function has saved everything by then.",
)
def that_overwrites_what_it_saved(mt, see):
    for how in ("all", "part", "unrecorded"):
        x = mt.tensor([1.0, 2.0], requires_grad=True)
        with mt.utils.checkpoint.set_checkpoint_early_stop(False):
            y = mt.utils.checkpoint.checkpoint(overwriting(mt, how), x, use_reentrant=False)
        y.sum().backward()
        see.value(x.grad)


def hooked(mt, place, hook):
    """A root w, with the hook at one place behind it, and the two tensors behind w."""
    z = mt.ones(3, requires_grad=True)
    y = z * 2
    w = y * 3
    if place in ("root", "result", "leaf"):
        {"root": w, "result": y, "leaf": z}[place].register_hook(hook)
    elif place == "before":
        y.grad_fn.register_prehook(hook)
    elif place == "after":
        w.grad_fn.register_hook(hook)
    else:
        z.register_post_accumulate_grad_hook(hook)
    return w, y, z


@shows("11 checkpoint")
def with_use_reentrant_in_a_hook_of_another_pass(mt, see):
    for place in ("root", "result", "leaf", "before", "after", "accumulated"):
        for which in range(4):
            for accumulate in (False, True):
                x = mt.ones(3, requires_grad=True)
                inner = mt.utils.checkpoint.checkpoint(lambda a: a * a, x, use_reentrant=True)
                # NB: a hook must not return anything
                tensors = hooked(mt, place, lambda *_, inner=inner: inner.backward(mt.ones(3), retain_graph=True))
                inputs = [(*tensors, mt.ones(1, requires_grad=True) * 1)[which]]
                with see.raising():
                    if accumulate:
                        tensors[0].backward(mt.ones(3), inputs=inputs)
                    else:
                        mt.autograd.grad(tensors[0], inputs, mt.ones(3), allow_unused=True)
                see.value(x.grad)
