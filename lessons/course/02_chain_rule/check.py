import numpy as np


def add(exercise):
    """send: z = x + y at 3 and 2, and 10 arrives"""
    return _floats(exercise.send("add", 10.0, 5.0, 3.0, 2.0))


def mul(exercise):
    """send: z = x · y at 3 and 0, and 10 arrives"""
    return _floats(exercise.send("mul", 10.0, 0.0, 3.0, 0.0))


def square(exercise):
    """send: z = x² at -3, and 10 arrives"""
    return _floats(exercise.send("square", 10.0, 9.0, -3.0))


def exp(exercise):
    """send: z = eˣ at 0, and 10 arrives"""
    return _floats(exercise.send("exp", 10.0, 1.0, 0.0))


def beginning(exercise):
    """The gradient that backward begins with, however large the result is"""
    gradients = _gradients(exercise, {"x": 3.0}, ("square", "z", "x"))
    return {name: gradient for name, gradient in gradients.items() if name == "gradient of z"}


def one_row(exercise):
    """One row: z = x · y at 3 and 2"""
    return _gradients(exercise, {"x": 3.0, "y": 2.0}, ("mul", "z", "x", "y"))


def chain(exercise):
    """A chain: u = x², z = u² at 3"""
    return _gradients(exercise, {"x": 3.0}, ("square", "u", "x"), ("square", "z", "u"))


def long_chain(exercise):
    """A chain of four: u = eˣ, v = u · y, w = v + a, z = w²"""
    numbers = {"x": 0.5, "y": 2.0, "a": 0.25}
    rows = ("exp", "u", "x"), ("mul", "v", "u", "y"), ("add", "w", "v", "a"), ("square", "z", "w")
    return _gradients(exercise, numbers, *rows)


def afterwards(exercise):
    """The tape is the same after backward: u = x · y, z = u² at 3 and 2"""
    tape = _tape(exercise, {"x": 3.0, "y": 2.0}, ("mul", "u", "x", "y"), ("square", "z", "u"))
    tape.backward("z")
    return {"tape.rows": tape.rows, "tape.values": tape.values}


def _gradients(exercise, numbers, *rows):
    gradients = _tape(exercise, numbers, *rows).backward(rows[-1][1])
    names = [*numbers, *(result for _, result, *_ in rows)]
    return {f"gradient of {name}": _plain(gradients[name]) for name in reversed(names) if name in gradients}


def _tape(exercise, numbers, *rows):
    tape = exercise.Tape()
    for name, value in numbers.items():
        tape.number(name, value)
    for operation, *names in rows:
        getattr(tape, operation)(*names)
    return tape


def _plain(gradient):
    return float(gradient) if np.ndim(gradient) == 0 else gradient


def _floats(terms):
    return [float(term) for term in terms]


def at_random(exercise, random):
    rows, numbers, last = [], {"x": float(random.uniform(-1, 1))}, "x"
    for number in range(int(random.integers(1, 6))):
        operation, other = str(random.choice(["add", "mul", "square", "exp"])), []
        if operation in ("add", "mul"):
            other = [f"y{number}"]
            numbers[other[0]] = float(random.uniform(-1, 1))
        rows.append((operation, f"r{number}", last, *other))
        last = f"r{number}"
    return _gradients(exercise, numbers, *rows)
