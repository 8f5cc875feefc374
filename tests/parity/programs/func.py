"""Function transforms: `torch.func`."""

from tests.parity.programs.functional import see_values
from tests.parity.rows import shows


def given(mt):
    w = mt.tensor([[1.0, 2.0, 3.0], [0.0, 1.0, -1.0]], dtype=mt.float64)
    return mt.tensor([1.0, 2.0, 3.0], dtype=mt.float64), w


def cubes(x):
    return (x**3).sum()


@shows("10 func")
def gradients_and_values(mt, see):
    f, (x, w) = mt.func, given(mt)
    see_values(see, f.grad(cubes)(x))
    see_values(see, f.grad_and_value(cubes)(x))
    see_values(see, f.grad(f.grad(lambda t: t.sin()))(x[0]))
    see_values(see, f.grad(lambda x, y: (x * y).sum(), argnums=(0, 1))(x, x + 1))
    see_values(see, f.grad(lambda x: (x.sum(), x * 2), has_aux=True)(x))
    found = f.grad(lambda p, x: (p["w"] @ x + p["b"]).pow(2).sum())({"w": w, "b": w[:, 0]}, x)
    see(list(found))
    see_values(see, list(found.values()))
    with mt.no_grad():
        see_values(see, f.grad(cubes)(x))


@shows("10 func")
def results_stay_connected_to_what_is_around(mt, see):
    f, (x, _) = mt.func, given(mt)
    p = mt.tensor(2.0, dtype=mt.float64, requires_grad=True)
    slope = f.grad(lambda t: p * t**3)(x[1])
    see_values(see, [slope, *mt.autograd.grad(slope, p)])
    see_values(see, f.grad(lambda a: f.grad(lambda b: a * b * b)(x[2]))(x[1]))
    q = x.clone().requires_grad_()
    see_values(see, mt.autograd.grad(f.grad(cubes)(q).sum(), q))
    see(f.grad(cubes)(x).requires_grad, f.jacrev(lambda x: x * 2)(x).requires_grad)


@shows("10 func")
def products_with_jacobians(mt, see):
    f, (x, w) = mt.func, given(mt)
    output, product = f.vjp(lambda x, y: (x * y, x.sum()), x, x + 1)
    see_values(see, [output, product((mt.ones_like(x), w[0, 1]))])
    see_values(see, product((x, w[0, 0])))
    output, product, aux = f.vjp(lambda x: (w @ x, x * 2), x, has_aux=True)
    see_values(see, [output, product(w[:, 0]), aux])
    see_values(see, f.jvp(lambda x: x.exp(), (x,), (mt.ones_like(x),)))
    see_values(see, f.jvp(lambda x, y: (x * y, x + 1), (x, x), (x, mt.ones_like(x))))


@shows("10 func")
def jacobians_and_hessians(mt, see):
    f, (x, w) = mt.func, given(mt)
    for jacobian in (f.jacrev, f.jacfwd):
        see_values(see, jacobian(lambda x: w @ x**2)(x))
        see_values(see, jacobian(lambda x, y: (x * y, y.sum()), argnums=(0, 1))(x, x + 1))
        see_values(see, jacobian(lambda x: (x**2, x), has_aux=True)(x))
    see_values(see, f.hessian(cubes)(x))
    see_values(see, f.hessian(lambda a, b: (a * b).sum() ** 2, argnums=(0, 1))(x, w[0]))
    see_values(see, f.jacrev(f.jacfwd(cubes))(x))


@shows("10 func")
def functions_mapped_over_slices(mt, see):
    f, (x, w) = mt.func, given(mt)
    see_values(see, f.vmap(lambda a, b: (a * b).sum())(w, w + 1))
    see_values(see, mt.vmap(lambda a: a * x, in_dims=1, out_dims=1)(w[:1].t() @ w[:1]))
    see_values(see, f.vmap(lambda a, b: a * b, in_dims=(0, None))(w, x))
    see_values(see, f.vmap(f.grad(cubes))(w))
    see_values(see, f.vmap(f.vmap(lambda t: t * 2))(w))
    see_values(see, f.vmap(lambda a: (a.sum(), a))(w))
    see_values(see, f.vmap(f.jacrev(lambda x: x**2))(w))


@shows("10 func")
def mistakes_with_transforms(mt, see):
    f, (x, w) = mt.func, given(mt)
    with see.raising():
        f.grad(lambda x: x)(x)
    with see.raising():
        f.grad(lambda x: 1)(x)
    with see.raising():
        f.vmap(lambda a, b: a)(w, x)
    with see.raising():
        f.vmap(lambda a: 1.0)(w)
    with see.raising():
        f.vmap(lambda a: a, in_dims=None)(w)
    with see.raising():
        f.jvp(cubes, x, (x,))
