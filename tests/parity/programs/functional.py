"""Section 10 of the semantics: `autograd.functional`."""

from tests.parity.rows import shows


def given(mt):
    return mt.tensor([1.0, 2.0, 3.0], dtype=mt.float64), mt.tensor([[0.5], [-1.5]], dtype=mt.float64)


def mixed(x, y):
    """Two inputs, two outputs, nothing linear."""
    return (x * y).exp().sum(0), (x * x).sum() * y


def number(x, y):
    return (x.sin() * (y * y)).sum() + (x * x * x).sum()


def see_values(see, result):
    """Compare a nested result without versions: torch accumulates gradients in place."""
    see(structure(result))
    see.value(*leaves(result))


def structure(result):
    return tuple(structure(one) for one in result) if isinstance(result, tuple | list) else "tensor"


def leaves(result):
    return [leaf for one in result for leaf in leaves(one)] if isinstance(result, tuple | list) else [result]


@shows("10 functional")
def vector_jacobian_products(mt, see):
    f = mt.autograd.functional
    x, y = given(mt)
    v = (mt.tensor([1.0, -1.0, 2.0], dtype=mt.float64), mt.tensor([[3.0], [4.0]], dtype=mt.float64))
    see_values(see, f.vjp(mixed, (x, y), v))
    see_values(see, f.vjp(lambda x: x * x, x, x))
    see_values(see, f.vjp(lambda x: (x * x).sum(), x))
    see_values(see, f.vjp(lambda x: ((x * x).sum(),), x))
    see_values(see, f.vjp(lambda x: (x * x, x.exp()), (x,), (x, x)))
    see_values(see, f.vjp(lambda x, y: x * 2, (x, y), x))
    see_values(see, f.vjp(lambda x: mt.ones(2), x, mt.ones(2)))
    with mt.no_grad():
        see_values(see, f.vjp(lambda x: x * x, x, x))


@shows("10 functional")
def jacobian_vector_products(mt, see):
    f = mt.autograd.functional
    x, y = given(mt)
    see_values(see, f.jvp(mixed, (x, y), (x, y)))
    see_values(see, f.jvp(lambda x: x * x, x, x))
    see_values(see, f.jvp(lambda x: x * mt.ones(3, dtype=mt.float64), mt.tensor(2.0, dtype=mt.float64)))
    see_values(see, f.jvp(lambda x, y: x * 2, (x, y), (x, y)))
    see_values(see, f.jvp(lambda x: (x * x, mt.ones(2)), x, x))
    with mt.no_grad():
        see_values(see, f.jvp(lambda x: x * x, x, x))


@shows("10 functional")
def hessian_vector_products(mt, see):
    f = mt.autograd.functional
    x, y = given(mt)
    see_values(see, f.hvp(number, (x, y), (x, y)))
    see_values(see, f.vhp(number, (x, y), (x, y)))
    see_values(see, f.hvp(lambda x: (x**3).sum(), x, x))
    see_values(see, f.vhp(lambda x: (x**3).sum(), x, x))
    see_values(see, f.hvp(lambda x: x**3, mt.tensor(2.0, dtype=mt.float64)))
    see_values(see, f.vhp(lambda x: x**3, mt.tensor([2.0], dtype=mt.float64)))
    see_values(see, f.hvp(lambda x, y: (x * x).sum(), (x, y), (x, y)))
    see_values(see, f.vhp(lambda x: x.sum(), x, x))
    with mt.no_grad():
        see_values(see, f.hvp(lambda x: (x**3).sum(), x, x))
        see_values(see, f.vhp(lambda x: (x**3).sum(), x, x))


@shows("10 functional")
def whole_jacobians(mt, see):
    f = mt.autograd.functional
    x, y = given(mt)
    for vectorize in (False, True):
        see_values(see, f.jacobian(mixed, (x, y), vectorize=vectorize))
        see_values(see, f.jacobian(lambda x: x * x, x, vectorize=vectorize))
        see_values(see, f.jacobian(lambda x: (x * x,), x, vectorize=vectorize))
        see_values(see, f.jacobian(lambda x: x * x, (x,), vectorize=vectorize))
        see_values(see, f.jacobian(lambda x: (x * x).sum(), x, vectorize=vectorize))
        see_values(see, f.jacobian(lambda x, y: x * 2, (x, y), vectorize=vectorize))
    see_values(see, f.jacobian(lambda x: mt.ones(2, dtype=mt.float64), x))
    with mt.no_grad():
        see_values(see, f.jacobian(lambda x: x * x, x))


@shows("10 functional")
def whole_hessians(mt, see):
    f = mt.autograd.functional
    x, y = given(mt)
    for vectorize in (False, True):
        see_values(see, f.hessian(number, (x, y), vectorize=vectorize))
        see_values(see, f.hessian(lambda x: (x**3).sum(), x, vectorize=vectorize))
        see_values(see, f.hessian(lambda x: (x**3).sum().reshape(1, 1), (x,), vectorize=vectorize))
        see_values(see, f.hessian(lambda x, y: (x**3).sum(), (x, y), vectorize=vectorize))
    see_values(see, f.hessian(lambda x: x.sum(), x))


@shows("10 functional")
def results_can_be_differentiated(mt, see):
    f = mt.autograd.functional
    x, _ = given(mt)
    v = mt.tensor([1.0, 0.0, -1.0], dtype=mt.float64, requires_grad=True)
    x.requires_grad_()

    def cube(x):
        return x * x * x

    for name in ("vjp", "jvp", "hvp", "vhp"):
        func = cube if name in ("vjp", "jvp") else lambda x: cube(x).sum()
        value, product = getattr(f, name)(func, x, v, create_graph=True)
        see(name, value.requires_grad, product.requires_grad)
        see.value(*mt.autograd.grad((product * product).sum(), (x, v)))
        see([one.requires_grad for one in getattr(f, name)(func, x, v)])
    for name in ("jacobian", "hessian"):
        func = cube if name == "jacobian" else lambda x: cube(x).sum()
        matrix = getattr(f, name)(func, x, create_graph=True)
        see(name, matrix.requires_grad)
        see.value(*mt.autograd.grad((matrix * matrix).sum(), x))
        see(getattr(f, name)(func, x).requires_grad)


@shows("10 functional")
def inputs_are_left_alone(mt, see):
    f = mt.autograd.functional
    x, _ = given(mt)
    x.requires_grad_()
    outer = x * 2
    see_values(see, f.jacobian(lambda y: y * outer, x))
    see_values(see, f.vjp(lambda y: (y * outer).sum(), x))
    see.value(x.grad)


@shows("10 functional")
def what_does_not_fit(mt, see):
    f = mt.autograd.functional
    x, y = given(mt)
    for name in ("vjp", "jvp", "hvp", "vhp", "jacobian", "hessian"):
        function = getattr(f, name)
        with see.raising():
            function(number, [x, y])
        with see.raising():
            function(number, (x, 2.0))
        with see.raising():
            function(lambda x: 3.0, x[:1])
        with see.raising():
            function(lambda x: (x.sum(), 3.0), x[:1])
    for name in ("vjp", "jvp", "hvp", "vhp"):
        function = getattr(f, name)
        with see.raising():
            function(lambda x: x * 1, x)
        with see.raising():
            function(lambda x: x.sum(), x, mt.ones(2, dtype=mt.float64))
        with see.raising():
            function(lambda x: x.sum(), x, (x, x))
        with see.raising():
            function(lambda x, y: (x.sum(), y.sum()), (x, y), (x,))
        with see.raising():
            function(lambda x, y: (x.sum(), y.sum()), (x, y), (y, x))
        with see.raising():
            function(lambda x: x.sum(), x, 3.0)
    for name in ("hvp", "vhp", "hessian"):
        function = getattr(f, name)
        with see.raising():
            function(lambda x: (x.sum(),), mt.ones(1))
        with see.raising():
            function(lambda x: mt.cat([x, x]), mt.ones(1))
    with see.raising():
        f.jacobian(lambda x: x, x, strategy="sideways")
    with see.raising():
        f.hessian(lambda x: x.sum(), x, outer_jacobian_strategy="sideways")
    with see.raising():
        f.jacobian(lambda x: x, x, strict=True, vectorize=True)


@shows("10 functional")
def strict_mode(mt, see):
    f = mt.autograd.functional
    constant = mt.ones(1, dtype=mt.float64)
    one, other = mt.ones(1, dtype=mt.float64), mt.ones(1, dtype=mt.float64) * 2
    functions = {
        "good": lambda x, y: (x * x * x * y * y * y).sum(),
        "constant": lambda x, y: constant,
        "ignores the second": lambda x, y: (x * x * x).sum(),
        "linear": lambda x, y: (x + y).sum(),
        "linear in the second": lambda x, y: (x * x * x * y).sum(),
        "separate": lambda x, y: (x * x * x).sum() + (y * y * y).sum(),
        "quadratic": lambda x, y: (x * x).sum() + (y * y).sum(),
        "detached": lambda x, y: (x * x).detach().sum(),
    }
    for name in ("vjp", "jvp", "hvp", "vhp"):
        for create_graph in (False, True):
            for what, func in functions.items():
                see(name, what, create_graph)
                one.requires_grad_(create_graph)
                other.requires_grad_(create_graph)
                v = constant if name == "vjp" else (constant, constant)
                if what != "constant" and name == "vjp":
                    v = None
                with see.raising():
                    getattr(f, name)(func, (one, other), v, create_graph=create_graph, strict=True)
    for name in ("jacobian", "hessian"):
        for create_graph in (False, True):
            for what, func in functions.items():
                see(name, what, create_graph)
                with see.raising():
                    getattr(f, name)(func, (one, other), create_graph=create_graph, strict=True)


@shows("10 functional")
def columns_instead_of_rows(mt, see):
    f = mt.autograd.functional
    x, y = given(mt)
    forward = {"strategy": "forward-mode", "vectorize": True}
    see_values(see, f.jacobian(mixed, (x, y), **forward))
    see_values(see, f.jacobian(lambda x: x * x, x, **forward))
    see_values(see, f.jacobian(lambda x: (x * x,), (x,), **forward))
    see_values(see, f.jacobian(lambda x: (x * x).sum(), x, **forward))
    outer = {"outer_jacobian_strategy": "forward-mode", "vectorize": True}
    for hessian in (f.hessian(number, (x, y), **outer), f.hessian(lambda x: (x**3).sum(), x, **outer)):
        see(structure(hessian))
        see.value(*[leaf.detach() for leaf in leaves(hessian)])  # torch's have a history
    for wrong in ({"strict": True}, {"create_graph": True}, {"vectorize": False}):
        with see.raising():
            f.jacobian(lambda x: x * x, x, **(forward | wrong))
