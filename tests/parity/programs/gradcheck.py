"""Section 10 of the semantics: gradcheck and gradgradcheck."""

from tests.parity.rows import shows


def double(mt, *values):
    return mt.tensor(list(values) or [0.5, 1.5], dtype=mt.float64, requires_grad=True)


def wrong(mt, forward, backward):
    """A Function with this forward and this backward."""

    class Wrong(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return forward(x)

        @staticmethod
        def backward(ctx, g):
            return backward(g, *ctx.saved_tensors)

    return Wrong.apply


@shows("10 gradcheck")
def passes_what_is_right(mt, see):
    x, y = double(mt), double(mt, 2.0, 3.0)
    for function, inputs in (
        (lambda x: x * x, x),
        (lambda x: (x * x,), (x,)),
        (lambda x, y: (x * y, x.exp()), (x, y)),
        (lambda x, k: x * k, (x, 3.0)),
        (lambda x, c: x * c, (x, mt.tensor([1.0, 2.0], dtype=mt.float64))),
        (lambda x: x.sum(), [x]),
        (lambda x: x[:0], x),
    ):
        for fast in (False, True):
            see(mt.autograd.gradcheck(function, inputs, fast_mode=fast))
    see(mt.autograd.gradgradcheck(lambda x, y: x * y * y, (x, y)))
    see(mt.autograd.gradgradcheck(lambda x: x.exp(), x, fast_mode=True))
    see(mt.autograd.gradgradcheck(lambda x: x * x, x, mt.tensor([1.0, 2.0], dtype=mt.float64, requires_grad=True)))
    see.value(x.grad, x)


@shows("10 gradcheck")
def complex_numbers(mt, see):
    z = mt.tensor([1 + 2j, 0.5 - 1j], dtype=mt.complex128, requires_grad=True)
    x = double(mt)
    for function, inputs in ((lambda z: z * z, z), (lambda z, x: z * x, (z, x))):
        see(mt.autograd.gradcheck(function, inputs))


@shows("10 gradcheck")
def needs_an_input_that_requires_grad(mt, see):
    with see.raising():
        mt.autograd.gradcheck(lambda x: x * 2, mt.tensor([1.0], dtype=mt.float64))
    with see.raising():
        mt.autograd.gradgradcheck(lambda x: x * 2, mt.tensor([1.0], dtype=mt.float64))


@shows("10 gradcheck")
def warns_of_single_precision(mt, see):
    x = mt.tensor([0.5, 1.5], requires_grad=True)
    see(mt.autograd.gradcheck(lambda x: x * 2, x, eps=1e-2, atol=1e-2))


@shows("10 gradcheck")
def names_what_is_wrong(mt, see):
    x = double(mt)
    calls = []

    def unsteady(g, x):
        calls.append(1)
        return g * 2 + 1e-9 * len(calls)

    for function in (
        wrong(mt, lambda x: x * x, lambda g, x: g * x),
        wrong(mt, lambda x: x * 2, lambda g, x: mt.full_like(g, 2.0)),
        lambda x: x.detach() * 2,
        lambda x: (x * 2, wrong(mt, lambda x: x * x, lambda g, x: g * x)(x)),
    ):
        with see.raising():
            mt.autograd.gradcheck(function, x)
        see(mt.autograd.gradcheck(function, x, raise_exception=False))
    with see.raising(text=False):
        mt.autograd.gradcheck(wrong(mt, lambda x: x * x, lambda g, x: g * x), x, fast_mode=True)
    try:
        mt.autograd.gradcheck(wrong(mt, lambda x: x * 2, unsteady), x)
    except RuntimeError as error:
        see(str(error).splitlines()[0])


@shows("10 gradcheck")
def lets_other_errors_through(mt, see):
    def fail(g, x):
        raise KeyError("mine")

    x = double(mt)
    for raising in (True, False):
        with see.raising():
            mt.autograd.gradcheck(lambda x: x.no_such_thing, x, raise_exception=raising)
        with see.raising(text=False):
            mt.autograd.gradcheck(wrong(mt, lambda x: x * 2, fail), x, raise_exception=raising)


@shows("10 gradcheck")
def takes_all_of_torchs_arguments(mt, see):
    x = double(mt)
    see(
        mt.autograd.gradcheck(
            lambda x: x * x,
            x,
            eps=1e-6,
            atol=1e-5,
            rtol=1e-3,
            raise_exception=True,
            nondet_tol=1e-3,
            check_undefined_grad=False,
            check_grad_dtypes=True,
            check_batched_grad=False,
            check_batched_forward_grad=False,
            check_forward_ad=False,
            check_backward_ad=True,
            fast_mode=False,
            masked=False,
        )
    )
    see(
        mt.autograd.gradgradcheck(
            lambda x: x * x,
            x,
            None,
            eps=1e-6,
            atol=1e-5,
            rtol=1e-3,
            gen_non_contig_grad_outputs=True,
            raise_exception=True,
            nondet_tol=0.0,
            check_undefined_grad=True,
            check_grad_dtypes=True,
            check_batched_grad=False,
            check_fwd_over_rev=False,
            check_rev_over_rev=True,
            fast_mode=False,
            masked=False,
        )
    )


@shows("10 gradgradcheck")
def names_what_is_wrong_too(mt, see):
    class Cube(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3 * x * x.detach()

    x = double(mt)
    see(mt.autograd.gradcheck(Cube.apply, x))
    see(mt.autograd.gradgradcheck(Cube.apply, x, raise_exception=False))
    with see.raising(text=False):
        mt.autograd.gradgradcheck(Cube.apply, x)


def cube(mt, *, right):
    """x³ with a right backward, and a jvp that is right or wrong."""

    class Cube(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * 3 * x**2

        @staticmethod
        def jvp(ctx, tangent):
            (x,) = ctx.saved_tensors
            return tangent * (3 if right else 2) * x**2

    return Cube


@shows("10 gradcheck")
def checks_forward_mode(mt, see):
    check = mt.autograd.gradcheck
    x, y = double(mt), mt.tensor([[0.5, -1.0, 2.0]], dtype=mt.float64, requires_grad=True)
    z = mt.tensor([1.0 + 2.0j, -0.5j], dtype=mt.complex128, requires_grad=True)
    for fast_mode in (False, True):
        options = {"check_forward_ad": True, "fast_mode": fast_mode}
        see(check(lambda x, y: (x * y.exp(), (x - y).sum()), (x, y), **options))
        see(check(lambda x, y: x.sin() @ y.t(), (x, y), check_batched_forward_grad=not fast_mode, **options))
        see(check(lambda x: x.tanh(), x, check_backward_ad=False, **options))
        see(check(lambda z: z * z * (1 + 2j), z, **options))
        see(check(lambda z: z.real * z.imag, z, **options))
        see(check(cube(mt, right=True).apply, x, **options))
        see(check(cube(mt, right=False).apply, x, fast_mode=fast_mode))
        see(check(cube(mt, right=False).apply, x, raise_exception=False, **options))
    try:
        check(cube(mt, right=False).apply, x, check_backward_ad=False, check_forward_ad=True)
    except RuntimeError as error:
        see(str(error).split("\n")[0])
    see(x.grad, x)


@shows("10 gradcheck")
def refuses_results_that_are_no_tensors(mt, see):
    for result in (lambda x: 3, lambda x: None, lambda x: (x, 3), lambda x: {"x": x}, lambda x: [x, x * 2]):
        for fast_mode in (False, True):
            with see.raising():
                see(mt.autograd.gradcheck(result, double(mt), fast_mode=fast_mode, raise_exception=False))


@shows("10 gradcheck")
def names_what_cannot_be_asked_for(mt, see):
    check, twice = mt.autograd.gradcheck, mt.autograd.gradgradcheck
    for function, options in (
        (check, {"check_backward_ad": False}),
        (check, {"check_backward_ad": False, "check_forward_ad": True, "check_batched_grad": True}),
        (check, {"check_batched_forward_grad": True}),
        (twice, {"check_rev_over_rev": False}),
        (twice, {"check_rev_over_rev": False, "check_fwd_over_rev": True}),
        (twice, {"check_rev_over_rev": False, "check_fwd_over_rev": True, "check_undefined_grad": False}),
    ):
        with see.raising():
            see(function(lambda x: x.sin(), double(mt), **options))


@shows("10 gradgradcheck")
def checks_forward_over_reverse(mt, see):
    x, y = double(mt), mt.tensor([[0.5, -1.0, 2.0]], dtype=mt.float64, requires_grad=True)
    options = {"check_fwd_over_rev": True, "check_rev_over_rev": False, "check_undefined_grad": False}
    see(mt.autograd.gradgradcheck(lambda x, y: x * y.exp(), (x, y), **options))
    see(mt.autograd.gradgradcheck(lambda x, y: (x * y.exp()).sum(), (x, y), check_fwd_over_rev=True))

    class Detached(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * 3 * x.detach() ** 2

    see(mt.autograd.gradgradcheck(Detached.apply, x, raise_exception=False, **options))
