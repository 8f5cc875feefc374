import math


def double(exercise):
    """The derivative of z = 2 · x at x = 3"""
    return exercise.slope("double", 3.0, 6.0)


def square(exercise):
    """The derivative of z = x² at x = 3"""
    return exercise.slope("square", 3.0, 9.0)


def sin(exercise):
    """The derivative of z = sin x at x = 2"""
    return exercise.slope("sin", 2.0, math.sin(2.0))


def exp(exercise):
    """The derivative of z = eˣ at x = 2"""
    return exercise.slope("exp", 2.0, math.exp(2.0))


def beginning(exercise):
    """The gradient that backward begins with, however large the result is"""
    return _gradients(exercise, 3.0, "square")["gradient of z"]


def one_row(exercise):
    """A chain of one row: z = x² at x = 3"""
    return _gradients(exercise, 3.0, "square")


def two_rows(exercise):
    """A chain of two: u = 2 · x, z = u² at x = 3"""
    return _gradients(exercise, 3.0, "double", "square")


def four_rows(exercise):
    """A chain of four: double, sin, square, exp at x = 0.4"""
    return _gradients(exercise, 0.4, "double", "sin", "square", "exp")


def _gradients(exercise, x, *operations):
    names = [*"xuvw"[: len(operations)], "z"]
    rows = list(zip(names[1:], operations, names[:-1], strict=True))
    values = {"x": x}
    for result, operation, operand in rows:
        values[result] = _RESULTS[operation](values[operand])
    gradients = exercise.backward(rows, values)
    return {f"gradient of {name}": gradients[name] for name in reversed(names)}


_RESULTS = {"double": lambda x: 2 * x, "square": lambda x: x * x, "sin": math.sin, "exp": math.exp}
