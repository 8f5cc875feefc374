"""Section 10 of the semantics: anomaly mode."""

import contextlib
import io
import warnings

from tests.parity.rows import shows


def told(see, function):
    """The exception of a call, and the first line of each warning: the stacks contain different files."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with see.raising():
            function()
    texts = [str(one.message).strip() for one in caught if one.category is UserWarning]
    see([text.partition("\n")[0].partition("(Triggered")[0].strip() for text in texts])


def failing(mt):
    class Failing(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            raise ValueError("cannot go on")

    return Failing


@shows("10 detect_anomaly, set_detect_anomaly")
def says_which_output_is_nan(mt, see):
    x = mt.tensor([0.0, 1.0], requires_grad=True)
    with mt.autograd.detect_anomaly():
        y = (x - x) ** 2
        told(see, lambda: y.sqrt().sum().backward())
        told(see, lambda: (mt.ones(2) / (x - x)).mul(0.0).sum().backward())
    told(see, lambda: ((x - x) ** 2).sqrt().sum().backward())
    see.value(x.grad)


@shows("10 detect_anomaly, set_detect_anomaly")
def lets_nan_pass_where_it_is_told_to(mt, see):
    x = mt.tensor([0.0, 1.0], requires_grad=True)
    with mt.autograd.detect_anomaly(check_nan=False):
        told(see, lambda: ((x - x) ** 2).sqrt().sum().backward())
    with mt.autograd.set_detect_anomaly(True):
        told(see, lambda: x.sqrt().sum().backward())
    see.value(x.grad)


@shows("10 detect_anomaly, set_detect_anomaly")
def explains_any_exception(mt, see):
    x = mt.tensor([1.0, 2.0], requires_grad=True)
    outside = failing(mt).apply(x)
    told(see, lambda: outside.sum().backward())
    with mt.autograd.set_detect_anomaly(True):
        told(see, lambda: outside.sum().backward())
        told(see, lambda: failing(mt).apply(x).sum().backward())
        y = x.exp()
        y.register_hook(lambda grad: 1 / 0)
        told(see, lambda: y.sum().backward())
        z = x * x
        total = z.sum()
        total.backward()
        told(see, lambda: total.backward())
        told(see, lambda: (x * 2).backward())
    see(mt.is_anomaly_enabled(), mt.is_anomaly_check_nan_enabled())


@shows("10 detect_anomaly, set_detect_anomaly")
def follows_a_double_backward_to_its_forward(mt, see):
    fails = failing(mt)

    class FailsTwice(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return fails.apply(grad)

    x = mt.tensor(1.0, requires_grad=True)
    seed = mt.tensor(1.0, requires_grad=True)
    with mt.autograd.set_detect_anomaly(True):
        y = FailsTwice.apply(x)
        (first,) = mt.autograd.grad(y, x, seed, create_graph=True)
        see(first.grad_fn.metadata["parent_"] is y.grad_fn, sorted(first.grad_fn.metadata))
        told(see, lambda: first.backward())
        z = x * 2
        see(sorted(z.grad_fn.metadata), sorted(z.grad_fn.next_functions[0][0].metadata))
    see(sorted((x * 2).grad_fn.metadata))


@shows("10 detect_anomaly, set_detect_anomaly")
def explains_a_backward_inside_of_a_backward(mt, see):
    fails = failing(mt)

    class Outer(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            with mt.enable_grad():
                fails.apply(mt.ones(1, requires_grad=True)).backward()
            return grad

    x = mt.ones(1, requires_grad=True)
    with mt.autograd.set_detect_anomaly(True):
        y = Outer.apply(x)
        told(see, lambda: y.backward())


@shows("10 detect_anomaly, set_detect_anomaly")
def switches(mt, see):
    mt.autograd.set_detect_anomaly(True, check_nan=False)
    see(mt.is_anomaly_enabled(), mt.is_anomaly_check_nan_enabled())
    with mt.autograd.set_detect_anomaly(False):
        see(mt.is_anomaly_enabled(), mt.is_anomaly_check_nan_enabled())
        with mt.autograd.detect_anomaly():
            see(mt.is_anomaly_enabled(), mt.is_anomaly_check_nan_enabled())
    see(mt.is_anomaly_enabled(), mt.is_anomaly_check_nan_enabled())
    mt.set_anomaly_enabled(False)
    see(mt.is_anomaly_enabled(), mt.is_anomaly_check_nan_enabled())


@shows("10 detect_anomaly, set_detect_anomaly")
def what_was_overwritten_is_hinted_at(mt, see):
    x = mt.ones(2, requires_grad=True)
    with mt.autograd.detect_anomaly():
        y = x.exp()
        loss = (y * y).sum()
        y.add_(1)
        with warnings.catch_warnings(), see.raising():
            warnings.simplefilter("ignore")  # the one with the traceback
            loss.backward(retain_graph=True)
    with see.raising():
        loss.backward()


@shows("10 detect_anomaly, set_detect_anomaly")
def the_explanation_does_not_replace_the_error(mt, see):
    x = mt.tensor([0.0, 1.0], requires_grad=True)
    outside = failing(mt).apply(x).sum()
    with mt.autograd.set_detect_anomaly(True), warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("error")
        for loss in (outside, failing(mt).apply(x).sum(), ((x - x) ** 2).sqrt().sum()):
            with see.raising():
                loss.backward()
        y = x.exp()
        loss = y.sum()
        y.mul_(2)
        with see.raising():
            loss.backward()
