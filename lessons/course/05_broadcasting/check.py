import numpy as np


def same_shape(exercise):
    """unbroadcast: nothing was stretched, (2, 3) from (2, 3)"""
    return _try(exercise, (2, 3), (2, 3))


def added_dimension(exercise):
    """unbroadcast: a dimension was added, (2, 3) from (3,)"""
    return _try(exercise, (2, 3), (3,))


def repeated_dimension(exercise):
    """unbroadcast: a dimension of size 1 was repeated, (2, 3) from (2, 1)"""
    return _try(exercise, (2, 3), (2, 1))


def repeated_first(exercise):
    """unbroadcast: the first dimension was repeated, (2, 3) from (1, 3)"""
    return _try(exercise, (2, 3), (1, 3))


def single_number(exercise):
    """unbroadcast: a single number was stretched to a table, (2, 3) from ()"""
    return _try(exercise, (2, 3), ())


def both(exercise):
    """unbroadcast: two dimensions were added and one repeated, (2, 2, 2, 3) from (2, 1)"""
    return _try(exercise, (2, 2, 2, 3), (2, 1))


def ones_that_stay(exercise):
    """unbroadcast: a dimension of size 1 that was not repeated, (1, 3) from (1, 1)"""
    return _try(exercise, (1, 3), (1, 1))


def not_changed(exercise):
    """unbroadcast: the gradient that was passed in is unchanged afterwards"""
    gradient = np.arange(1.0, 7.0).reshape(2, 3)
    exercise.unbroadcast(gradient, (1, 3))
    return gradient


def sum_(exercise):
    """backward of a sum: z = sum of x · x, at x = [1, 2, 4]"""
    tape = _tape(exercise, {"x": np.array([1.0, 2.0, 4.0])}, [("mul", "y", "x", "x"), ("sum", "z", "y")])
    return _gradients(tape, "z")


def table(exercise):
    """backward: a row, a column and a single number are stretched to a table"""
    numbers = {
        "table": np.arange(6.0).reshape(2, 3),
        "row": np.array([1.0, 2.0, 4.0]),
        "column": np.array([[3.0], [5.0]]),
        "single": 7.0,
    }
    rows = [("mul", "a", "table", "row"), ("add", "b", "a", "column"), ("mul", "c", "b", "single"), ("sum", "z", "c")]
    return _gradients(_tape(exercise, numbers, rows), "z")


def array_for_each(exercise):
    """backward: t = s + s sends the same array twice, and keeps its own gradient"""
    numbers = {"x": np.array([1.0, 2.0, 4.0]), "y": np.array([3.0, 5.0, 7.0])}
    rows = [("mul", "s", "x", "y"), ("add", "t", "s", "s"), ("add", "u", "t", "x"), ("sum", "z", "u")]
    return _gradients(_tape(exercise, numbers, rows), "z")


def every_operation(exercise):
    """backward: every operation so far, and a row that leads nowhere, at x = 0.75"""
    rows = [
        ("exp", "u", "x"),
        ("square", "v", "u"),
        ("mul", "w", "v", "x"),
        ("exp", "aside", "w"),
        ("add", "z", "w", "u"),
    ]
    tape = _tape(exercise, {"x": 0.75}, rows)
    return {**_gradients(tape, "z"), "tape.rows": tape.rows, "tape.values": _values(tape)}


def _try(exercise, from_shape, to_shape):
    gradient = np.arange(1.0, 1.0 + np.prod(from_shape)).reshape(from_shape)
    return np.asarray(exercise.unbroadcast(gradient, to_shape))


def _tape(exercise, numbers, rows):
    tape = exercise.Tape()
    for name, value in numbers.items():
        tape.number(name, value)
    for operation, *names in rows:
        getattr(tape, operation)(*names)
    return tape


def _values(tape):
    return {name: np.asarray(value, float).tolist() for name, value in sorted(tape.values.items())}


def _gradients(tape, last):
    """The gradients by name. One that is missing is 0, and 0 is as good as zeros."""
    gradients = tape.backward(last)
    found = {name: np.asarray(gradients.get(name, 0.0), float) for name in sorted(tape.values)}
    return {f"gradient of {name}": gradient.tolist() if gradient.any() else 0.0 for name, gradient in found.items()}


def at_random(exercise, random):
    shape = tuple(int(size) for size in random.integers(1, 4, int(random.integers(0, 4))))
    operand = tuple(1 if random.random() < 0.4 else size for size in shape[int(random.integers(0, len(shape) + 1)) :])
    found = exercise.unbroadcast(np.asarray(random.normal(size=shape)), operand)
    table = {"a": random.normal(size=(2, 3)), "b": random.normal(size=(3,)), "c": random.normal(size=(2, 1)), "d": 0.5}
    names, rows = list(table), []
    for number in range(int(random.integers(1, 6))):
        operation = str(random.choice(["add", "mul", "square", "exp"]))
        operands = [str(random.choice(names)) for _ in range(1 if operation in ("square", "exp") else 2)]
        rows.append((operation, f"r{number}", *operands))
        names.append(f"r{number}")
    rows += [("add", "t", "a", names[-1]), ("sum", "z", "t")]
    return {"unbroadcast": np.asarray(found), **_gradients(_tape(exercise, table, rows), "z")}
