import numpy as np


def used_once(exercise):
    """Nothing is used twice: u = x · y, z = u · w at x = 3, y = 2, w = 5"""
    return _gradients(exercise, [("mul", "u", "x", "y"), ("mul", "z", "u", "w")], x=3.0, y=2.0, w=5.0)


def used_twice(exercise):
    """x is used twice: u = x · y, z = u + x at x = 3, y = 2"""
    return _gradients(exercise, [("mul", "u", "x", "y"), ("add", "z", "u", "x")], x=3.0, y=2.0)


def both_operands(exercise):
    """x is both operands: z = x · x at x = 3"""
    return _gradients(exercise, [("mul", "z", "x", "x")], x=3.0)


def result_used_twice(exercise):
    """A result is used twice: s = x · x, z = s · s at x = 2"""
    return _gradients(exercise, [("mul", "s", "x", "x"), ("mul", "z", "s", "s")], x=2.0)


def used_three_times(exercise):
    """x is used three times: u = x · y, v = u + x, z = v · x at x = 3, y = 2"""
    rows = [("mul", "u", "x", "y"), ("add", "v", "u", "x"), ("mul", "z", "v", "x")]
    return _gradients(exercise, rows, x=3.0, y=2.0)


def every_operation(exercise):
    """Every operation so far: u = eˣ, v = u², w = v · x, z = w + u at x = 0.75"""
    rows = [("exp", "u", "x"), ("square", "v", "u"), ("mul", "w", "v", "x"), ("add", "z", "w", "u")]
    tape = _tape(exercise, {"x": 0.75}, rows)
    return {**_plain(tape.backward("z")), "tape.rows": tape.rows, "tape.values": _values(tape)}


def _gradients(exercise, rows, **numbers):
    return _plain(_tape(exercise, numbers, rows).backward(rows[-1][1]))


def _tape(exercise, numbers, rows):
    tape = exercise.Tape()
    for name, value in numbers.items():
        tape.number(name, value)
    for operation, *names in rows:
        getattr(tape, operation)(*names)
    return tape


def _values(tape):
    return {name: np.asarray(value, float).tolist() for name, value in sorted(tape.values.items())}


def _plain(gradients):
    return {f"gradient of {name}": np.asarray(gradient, float).tolist() for name, gradient in sorted(gradients.items())}


def at_random(exercise, random):
    names, rows = ["x", "y"], []
    for number in range(int(random.integers(1, 6))):
        operation = random.choice(["add", "mul", "square", "exp"])
        other = [] if operation in ("square", "exp") else [str(random.choice(names))]
        rows.append((str(operation), f"r{number}", names[-1], *other))
        names.append(f"r{number}")
    return _gradients(exercise, rows, x=float(random.uniform(-1, 1)), y=float(random.uniform(-1, 1)))
