import microtape as mt


def table(exercise):
    """numerical: two products of neighbours at [1, 2, 4], h = 0.001"""
    return exercise.numerical(lambda x: x[1:] * x[:-1], _x([1.0, 2.0, 4.0]), 1e-3)


def both_sides(exercise):
    """numerical: x³ at [2, -1] with a large h, 0.5"""
    return exercise.numerical(lambda x: x**3, _x([2.0, -1.0]), 0.5)


def x_afterwards(exercise):
    """numerical: x = [1, 2] afterwards"""
    x = mt.tensor([1.0, 2.0], dtype=mt.float64)
    exercise.numerical(lambda x: x * x, x, 0.25)
    return x


def found(exercise):
    """suspects: doubling with the right derivative, with derivative 3, and without grad_z"""
    functions = {name: _doubling(slope).apply for name, slope in SLOPES.items() if name != "shares"}
    return exercise.suspects(functions, _x([1.0, 2.0]))


def right_for_the_sum(exercise):
    """suspects: a Function whose backward is right only for the sum of the results"""
    return exercise.suspects({"shares": _doubling(SLOPES["shares"]).apply}, _x([1.0, 2.0]))


def sigmoid(exercise):
    """Sigmoid at [0.5, -1, 2]: the gradient when 1, 10 and 100 arrive"""
    return _gradient(exercise.Sigmoid)


def softplus(exercise):
    """Softplus at [0.5, -1, 2]: the gradient when 1, 10 and 100 arrive"""
    return _gradient(exercise.Softplus)


def center(exercise):
    """Center at [0.5, -1, 2]: the gradient when 1, 10 and 100 arrive"""
    return _gradient(exercise.Center)


def outputs(exercise):
    """The results of all three at [0.5, -1, 2]"""
    return [one.apply(_x([0.5, -1.0, 2.0])).detach() for one in (exercise.Sigmoid, exercise.Softplus, exercise.Center)]


SLOPES = {
    "right": lambda grad_z: grad_z * 2,
    "derivative 3": lambda grad_z: grad_z * 3,
    "no grad_z": lambda grad_z: mt.full_like(grad_z, 2.0),
    "shares": lambda grad_z: mt.full_like(grad_z, 2.0) * grad_z.mean(),
}


def _doubling(slope):
    class Doubling(mt.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad_z):
            return slope(grad_z)

    return Doubling


def _gradient(function):
    x = _x([0.5, -1.0, 2.0])
    function.apply(x).backward(mt.tensor([1.0, 10.0, 100.0], dtype=mt.float64))
    return x.grad


def _x(values):
    return mt.tensor(values, dtype=mt.float64, requires_grad=True)
