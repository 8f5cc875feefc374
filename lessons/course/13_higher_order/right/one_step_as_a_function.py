"""One step is a function of its own, and the loop calls it."""

import microtape as mt


def derivative(f, x, **options):
    return mt.autograd.grad(f(x), [x], **options)[0]


def step(f, x):
    at = mt.tensor(x, requires_grad=True)
    slope = derivative(f, at, create_graph=True)
    curve = derivative(lambda _: slope, at)
    return (at - slope / curve).item()


def newton(f, x, steps):
    while steps > 0:
        x, steps = step(f, x), steps - 1
    return x


def penalized(f, x):
    return derivative(f, x, create_graph=True).square() + f(x)
