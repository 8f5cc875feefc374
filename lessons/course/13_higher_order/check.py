import microtape as mt


def parabola(exercise):
    """newton: one step on (x - 3)² + 5 from 10"""
    return exercise.newton(lambda x: (x - 3) ** 2 + 5, 10.0, 1)


def quartic(exercise):
    """newton: one step on x⁴ from 6"""
    return exercise.newton(lambda x: x**4, 6.0, 1)


def three_steps(exercise):
    """newton: three steps on x⁴ from 6"""
    return exercise.newton(lambda x: x**4, 6.0, 3)


def no_steps(exercise):
    """newton: no step at all, from 6"""
    return exercise.newton(lambda x: x**4, 6.0, 0)


def value(exercise):
    """penalized: w · x² at w = 2, x = 1.5"""
    w, x = _leaf(2.0), _leaf(1.5)
    return exercise.penalized(lambda x: w * x * x, x).item()


def gradient_of_w(exercise):
    """penalized: the gradient of w, for w · x² at w = 2, x = 1.5"""
    w, x = _leaf(2.0), _leaf(1.5)
    (for_w,) = mt.autograd.grad(exercise.penalized(lambda x: w * x * x, x), w)
    return for_w.item()


def gradient_of_x(exercise):
    """penalized: the gradient of x, for w · x² at w = 2, x = 1.5"""
    w, x = _leaf(2.0), _leaf(1.5)
    (for_x,) = mt.autograd.grad(exercise.penalized(lambda x: w * x * x, x), x)
    return for_x.item()


def nothing_left(exercise):
    """penalized: w.grad and x.grad afterwards"""
    w, x = _leaf(2.0), _leaf(1.5)
    exercise.penalized(lambda x: w * x * x, x)
    return {"w.grad": w.grad, "x.grad": x.grad}


def _leaf(value):
    return mt.tensor(value, requires_grad=True)
