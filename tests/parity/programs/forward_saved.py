"""Section 11 of the semantics: forward mode over reverse mode, and the tangents of saved tensors."""

import contextlib

from tests.parity.programs.forward import level
from tests.parity.rows import shows

ROW = "11 dual_level, make_dual, unpack_dual"


def dual_leaf(mt, requires_grad=True):
    """A leaf, and a dual view of it."""
    w = mt.tensor([1.0, 2.0], dtype=mt.float64, requires_grad=requires_grad)
    return w, mt.autograd.forward_ad.make_dual(w, mt.tensor([10.0, 20.0], dtype=mt.float64))


def tangents(mt, see, *tensors):
    """The values of each tensor's tangent; whether it requires grad is seen in other programs."""
    found = [None if one is None else mt.autograd.forward_ad.unpack_dual(one).tangent for one in tensors]
    see.value(*[None if one is None else one.detach() for one in found])


def hooks(mt):
    """Ways to save a tensor, as contexts."""
    graph = mt.autograd.graph
    return {
        "as it is": contextlib.nullcontext,
        "identity": lambda: graph.saved_tensors_hooks(lambda x: x, lambda x: x),
        "detached": lambda: graph.saved_tensors_hooks(lambda x: x.detach(), lambda x: x),
        "copied": lambda: graph.saved_tensors_hooks(lambda x: x.clone(), lambda x: x),
        "on the cpu": graph.save_on_cpu,
        "in numpy": lambda: graph.saved_tensors_hooks(lambda x: x.detach().numpy().copy(), lambda x: mt.tensor(x)),
    }


def hessian_vector(mt, see, function, way=contextlib.nullcontext):
    """The outputs' tangents and those of the gradient, with and without a recorded backward; `way` is how to save."""
    for create_graph in (False, True):
        with level(mt):
            w, d = dual_leaf(mt)
            with way():
                y = function(d)
            tangents(mt, see, y)
            (g,) = mt.autograd.grad((y * y).sum(), w, create_graph=create_graph)
            see.value(g)
            tangents(mt, see, g)


def changed(x, change):
    """A new tensor after `change` has written to it."""
    y = x * x
    change(y)
    return y


@shows(ROW)
def of_tensors_overwritten_by_the_operation_that_saved_them(mt, see):
    for function in (
        lambda x: (x * 1).mul_(x).mul_(x),
        lambda x: x.clone().pow_(3),
        lambda x: x.clone().sin_().sin_(),
        lambda x: (x * 1).div_(x * x + 1).div_(x),
        lambda x: (x * 1).addcmul_(x, x**2).addcdiv_(x, x**2 + 1),
        lambda x: (x * 1).lerp_(x**3, x),
        lambda x: (x**3).clamp_(0, 5.0) * x,
        lambda x: changed(x, lambda y: y[:1].pow_(3)),
        lambda x: changed(x, lambda y: (y[:1].exp_(), y[1:].mul_(y[:1].clone()))),
        lambda x: changed(x, lambda y: y.view(2, 1).t().mul_(x).sin_()),
        lambda x: x.expand(3, 2).clone().mul_(x).sin_(),
        lambda x: (x**3).cumsum(0) * x,
    ):
        for way in hooks(mt).values():
            hessian_vector(mt, see, function, way)


@shows(ROW)
def of_tensors_written_to_by_index_and_mask(mt, see):
    one, both = mt.tensor([1, 0]), mt.tensor([1, 1])
    for change in (
        lambda x, y: y.__setitem__(0, x[1] ** 2 * y[0].clone()),
        lambda x, y: y.copy_(x**3),
        lambda x, y: y[0].fill_(x[1] ** 3),
        lambda x, y: y.masked_fill_(x > 1.5, x[0] ** 3),
        lambda x, y: y.index_put_((one,), x**3),
        lambda x, y: y.index_put_((both,), x**3, accumulate=True),
        lambda x, y: y.index_add_(0, both, x**3),
        lambda x, y: y.scatter_(0, one, x**3),
        lambda x, y: y[:1].zero_(),
    ):
        for way in hooks(mt).values():
            hessian_vector(mt, see, lambda x, change=change: changed(x, lambda y: change(x, y)) * x, way)


@shows(ROW)
def of_recomputed_tensors(mt, see):
    checkpoint = mt.utils.checkpoint.checkpoint

    def run(function, **options):
        return lambda x: checkpoint(function, x, use_reentrant=False, **options)

    for function in (
        run(lambda x: x**3),
        run(lambda x: (x * 1).mul_(x).mul_(x)),
        run(lambda x: x.exp() * x.sin(), early_stop=False),
        run(lambda x: run(lambda y: y**3)(x.exp()) * x),
        lambda x: run(lambda y: y.exp() * y)(x * x) * x,
    ):
        hessian_vector(mt, see, function)
    with level(mt), see.raising():
        checkpoint(lambda x: x**3, dual_leaf(mt)[1], use_reentrant=True)


@shows(ROW)
def hooks_of_single_tensors(mt, see):
    with level(mt):
        w, d = dual_leaf(mt)
        y = d * 1
        z = y.exp()
        u = y * z
        for node, name in ((z.grad_fn, "result"), (u.grad_fn, "self"), (u.grad_fn, "other")):
            getattr(node, f"_raw_saved_{name}").register_hooks(lambda x: x.clone(), lambda x: x)
        tangents(mt, see, z.grad_fn._saved_result, u.grad_fn._saved_self, u.grad_fn._saved_other)
        (g,) = mt.autograd.grad(u.sum(), w, create_graph=True)
        see.value(g)
        tangents(mt, see, g)


@shows("7 saved_tensors_hooks")
def the_history_of_what_a_hook_returns(mt, see):
    x, other = mt.ones(2, requires_grad=True), mt.ones(2, requires_grad=True)
    constant = mt.ones(2)
    with mt.autograd.graph.saved_tensors_hooks(lambda x: x.detach(), lambda x: other * 1):
        y = x * constant
    see.value(y.grad_fn._saved_other, y.grad_fn._saved_self)
    see.value(*mt.autograd.grad(y.sum(), x, create_graph=True))
    with mt.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
        see((x * constant).grad_fn._saved_other is constant)


@shows(ROW)
def hooks_see_tangents(mt, see):
    for create_graph in (False, True):
        with level(mt):
            w, d = dual_leaf(mt)
            y = d * d
            z = y * y
            y.register_hook(lambda g: (tangents(mt, see, g), g * g)[1])
            z.grad_fn.register_prehook(lambda gs, y=y: (tangents(mt, see, *gs), tuple(g * y for g in gs))[1])
            z.grad_fn.register_hook(lambda into, out: (tangents(mt, see, *into, *out), (into[0].exp(), into[1]))[1])
            (g,) = mt.autograd.grad(z.sum(), w, create_graph=create_graph)
            see.value(g)
            tangents(mt, see, g)


@shows(ROW)
def retained_gradients_have_tangents(mt, see):
    with level(mt):
        _, d = dual_leaf(mt)
        y = d * d
        y.retain_grad()
        z = (y * y).sum()
        for _ in range(2):
            z.backward(retain_graph=True)
            see.value(y.grad)
            tangents(mt, see, y.grad)
        (y**3).sum().backward(inputs=[d])
        see.value(d.grad)
        tangents(mt, see, d.grad)


@shows(ROW, differs="`.grad` of a leaf always carries its tangent; torch drops the tangent of the first gradient")
def accumulated_gradients_have_tangents(mt, see):
    with level(mt):
        w, d = dual_leaf(mt)
        for _ in range(2):
            (d * d * w).sum().backward()
            see.value(w.grad)
            tangents(mt, see, w.grad)


@shows(ROW)
def first_gradients_and_nodes_pass_tangents_on(mt, see):
    with level(mt):
        w, d = dual_leaf(mt)
        y = d**3
        for first in (d, d.detach(), d * d):
            for create_graph in (False, True):
                found = mt.autograd.grad(y, [w, d, y], first, retain_graph=True, create_graph=create_graph)
                see.value(*found)
                tangents(mt, see, *found)
        node = (d * w.detach()).grad_fn
        tangents(mt, see, *node(d))
        with mt.no_grad():
            tangents(mt, see, *node(d))


@shows(ROW)
def higher_derivatives_have_tangents(mt, see):
    with level(mt):
        w, d = dual_leaf(mt)
        found = [(d**4).sum()]
        for _ in range(3):
            (g,) = mt.autograd.grad(found[-1].sum(), w, create_graph=True)
            see.value(g)
            tangents(mt, see, g)
            (again,) = mt.autograd.grad(mt.autograd.forward_ad.unpack_dual(g).tangent.sum(), w, retain_graph=True)
            see.value(again)
            found.append(g)


@shows(ROW, differs="a tensor that a hook has copied before it was overwritten keeps its tangent, too; torch's changes")
def of_copies_of_tensors_overwritten_later(mt, see):
    def function(x):
        return (x * x + 1).sqrt_().sigmoid_().tanh_()

    with mt.autograd.graph.allow_mutation_on_saved_tensors():
        hessian_vector(mt, see, function)
    hessian_vector(mt, see, function, hooks(mt)["copied"])


@shows("10 functional")
def hessians_of_functions_that_overwrite_and_pack(mt, see):
    x = mt.tensor([1.0, 2.0], dtype=mt.float64)

    def packed(way):
        def run(x):
            with way():
                return (x**3).sum()

        return run

    for function in (
        lambda x: (x * 1).mul_(x).mul_(x).sum(),
        lambda x: x.clone().pow_(3).sum(),
        *map(packed, hooks(mt).values()),
        lambda x: mt.utils.checkpoint.checkpoint(lambda y: (y**3).sum(), x, use_reentrant=False),
    ):
        for options in (
            {"vectorize": True, "outer_jacobian_strategy": "forward-mode"},
            {"vectorize": True},
            {"create_graph": True},
        ):
            see.value(mt.autograd.functional.hessian(function, x, **options).detach())


@shows("10 functional")
def jacobians_of_nothing_and_of_complex_numbers(mt, see):
    jacobian = mt.autograd.functional.jacobian
    forward = {"vectorize": True, "strategy": "forward-mode"}
    for function, x in (
        (lambda x: x * x, mt.ones(0)),
        (lambda x: x[:0], mt.ones(2)),
        (lambda x: (x[:0], x), mt.ones(2)),
        (lambda x: x * x * (1 + 2j), mt.tensor([1 + 2j, 3j])),
        (lambda x: x.real * x.imag, mt.tensor([1 + 2j, 3j])),
    ):
        see.value(*[one for one in [jacobian(function, x, **forward)] if isinstance(one, mt.Tensor)])
        with see.raising():
            see.value(*[one for one in [jacobian(function, x)] if isinstance(one, mt.Tensor)])
    for function, x in (
        (lambda x: (x[:0], x), mt.ones(2)),
        (lambda x: (x * x * (1 + 2j), x), mt.tensor([1 + 2j, 3j])),
        (lambda x: (x * (1 + 2j),), mt.ones(2)),
    ):
        see.value(*jacobian(function, x, vectorize=True))


@shows(
    "10 functional", differs="`vectorize=True` computes the Jacobian of one empty output, too; torch raises IndexError"
)
def vectorized_jacobian_of_nothing(mt, see):
    with see.raising():
        see.value(mt.autograd.functional.jacobian(lambda x: x[:0], mt.ones(2), vectorize=True))


@shows(
    "10 functional",
    differs="forward-mode Jacobians and Hessians never require grad, as `create_graph=False` promises; torch's may",
)
def forward_mode_results_have_no_history(mt, see):
    x = mt.ones(2, requires_grad=True)
    see.value(mt.autograd.functional.jacobian(lambda x: x**3, x, vectorize=True, strategy="forward-mode"))


@shows(
    ROW, differs="a tangent requires grad only if it depends on a tensor that does; torch's may depend on it by zeros"
)
def tangents_that_require_grad(mt, see):
    with level(mt):
        _, d = dual_leaf(mt)
        see.value(mt.autograd.forward_ad.unpack_dual(d * 2).tangent)
