"""Section 10 of the semantics: gradcheck and gradgradcheck."""

from parity.rows import shows


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
