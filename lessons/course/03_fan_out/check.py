def used_once(exercise):
    """Nothing is used twice: u = x · y, z = u · w at x = 3, y = 2, w = 5"""
    rows = [("u", "mul", "x", "y"), ("z", "mul", "u", "w")]
    return _gradients(exercise, rows, x=3.0, y=2.0, w=5.0)


def used_twice(exercise):
    """x is used twice: u = x · y, z = u + x at x = 3, y = 2"""
    return _gradients(exercise, [("u", "mul", "x", "y"), ("z", "add", "u", "x")], x=3.0, y=2.0)


def both_operands(exercise):
    """x is both operands: z = x · x at x = 3"""
    return _gradients(exercise, [("z", "mul", "x", "x")], x=3.0)


def result_used_twice(exercise):
    """A result is used twice: s = x · x, z = s · s at x = 2"""
    return _gradients(exercise, [("s", "mul", "x", "x"), ("z", "mul", "s", "s")], x=2.0)


def used_three_times(exercise):
    """x is used three times: u = x · y, v = u + x, z = v · x at x = 3, y = 2"""
    rows = [("u", "mul", "x", "y"), ("v", "add", "u", "x"), ("z", "mul", "v", "x")]
    return _gradients(exercise, rows, x=3.0, y=2.0)


def not_used(exercise):
    """A result that is not used: u = x · y, aside = u · u, z = u + y at x = 3, y = 2"""
    rows = [("u", "mul", "x", "y"), ("aside", "mul", "u", "u"), ("z", "add", "u", "y")]
    return _gradients(exercise, rows, x=3.0, y=2.0)


def _gradients(exercise, rows, **values):
    names = list(values)
    for result, operation, x, y in rows:
        values[result] = values[x] * values[y] if operation == "mul" else values[x] + values[y]
    gradients = exercise.backward(rows, values)
    return {f"gradient of {name}": gradients.get(name) for name in names}
