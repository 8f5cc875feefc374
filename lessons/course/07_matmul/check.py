import numpy as np


def product(exercise):
    """matmul: (2, 3) @ (3, 1), and its row"""
    tape = _product(exercise, _numbers((2, 3), 1.0), _numbers((3, 1), -2.0))
    return {"tape.values": _values(tape), "tape.rows": tape.rows}


def bills(exercise):
    """send: two orders of three goods, (2, 3) @ (3, 1)"""
    return _send(exercise, (2, 3), (3, 1))


def wide(exercise):
    """send: all sizes differ, (2, 3) @ (3, 4)"""
    return _send(exercise, (2, 3), (3, 4))


def square_(exercise):
    """send: both are square, so every order fits, (2, 2) @ (2, 2)"""
    return _send(exercise, (2, 2), (2, 2))


def stack(exercise):
    """backward: a stack of two matrices and one matrix, (2, 3, 4) @ (4, 2)"""
    return _backward(exercise, (2, 3, 4), (4, 2))


def square_stack(exercise):
    """backward: a stack whose sizes are all the same, (2, 2, 2) @ (2, 2)"""
    return _backward(exercise, (2, 2, 2), (2, 2))


def stack_of_one(exercise):
    """backward: a stack of a single matrix, (1, 2, 3) @ (3, 2)"""
    return _backward(exercise, (1, 2, 3), (3, 2))


def not_written_into(exercise):
    """backward: the numbers of the tape and the weights are unchanged afterwards"""
    rows = [("matmul", "c", "a", "b"), ("add", "d", "c", "c"), ("mul", "z", "d", "c")]
    tape = _tape(exercise, {"a": _numbers((2, 2, 3), 1.0), "b": _numbers((3, 2), -2.0)}, rows)
    weights = _numbers((2, 2, 2), 0.5)
    tape.backward("z", weights)
    return {"tape.values": _values(tape), "weights": weights}


def every_operation(exercise):
    """Every operation so far, a row that leads nowhere, the table, and the refusal"""
    numbers = {
        "a": np.array([[0.5, 1.0], [0.25, 2.0]]),
        "b": np.array([[1.0, -1.0], [0.5, 0.25]]),
        "c": np.array([[0.5, 0.25]]),
    }
    rows = [
        ("matmul", "m", "a", "b"),
        ("add", "n", "m", "c"),
        ("exp", "u", "n"),
        ("square", "v", "u"),
        ("mul", "w", "v", "n"),
        ("exp", "aside", "w"),
        ("sum", "z", "w"),
    ]
    tape = _tape(exercise, numbers, rows)
    line = _tape(exercise, {"x": np.array([1.0, 2.0, 3.0])}, [("sum", "s", "x"), ("mul", "z", "x", "s")])
    try:
        refused = line.backward("z")
    except ValueError:
        refused = "refused"
    jacobian = np.asarray(exercise.jacobian(line, "z", "x"))
    return {
        **_gradients(tape, "z"),
        "tape.rows": tape.rows,
        "tape.values": _values(tape),
        "jacobian": jacobian,
        "backward from three numbers without weights": str(refused),
    }


def _product(exercise, a, b):
    return _tape(exercise, {"a": a, "b": b}, [("matmul", "c", "a", "b")])


def _send(exercise, a_shape, b_shape):
    a, b = _numbers(a_shape, 1.0), _numbers(b_shape, -2.0)
    for_a, for_b = exercise.send("matmul", _numbers((a @ b).shape, 0.5), a @ b, a, b)
    return {"gradient of a": np.asarray(for_a), "gradient of b": np.asarray(for_b)}


def _backward(exercise, a_shape, b_shape):
    tape = _product(exercise, _numbers(a_shape, 1.0), _numbers(b_shape, -2.0))
    return _gradients(tape, "c", _numbers(np.shape(tape.values["c"]), 0.5))


def _numbers(shape, first):
    """No two are the same, and nothing is symmetric."""
    n = np.arange(np.prod(shape))
    return (first + n * n).reshape(shape)


def _tape(exercise, numbers, rows):
    tape = exercise.Tape()
    for name, value in numbers.items():
        tape.number(name, value)
    for operation, *names in rows:
        getattr(tape, operation)(*names)
    return tape


def _values(tape):
    return {name: np.asarray(value, float).tolist() for name, value in sorted(tape.values.items())}


def _gradients(tape, last, *weights):
    """The gradients by name. One that is missing is 0, and 0 is as good as zeros."""
    gradients = tape.backward(last, *weights)
    found = {name: np.asarray(gradients.get(name, 0.0), float) for name in sorted(tape.values)}
    return {f"gradient of {name}": gradient.tolist() if gradient.any() else 0.0 for name, gradient in found.items()}


def at_random(exercise, random):
    shape = tuple(int(size) for size in random.integers(1, 4, int(random.integers(0, 4))))
    operand = tuple(1 if random.random() < 0.4 else size for size in shape[int(random.integers(0, len(shape) + 1)) :])
    numbers = {"a": random.normal(size=(2, 2)), "b": random.normal(size=(2, 2)), "c": random.normal(size=2), "d": 0.5}
    names, rows = list(numbers), [("matmul", "m", "a", "b")]
    for number in range(int(random.integers(1, 5))):
        operation = str(random.choice(["add", "mul", "square", "exp"]))
        operands = [str(random.choice([*names, "m"])) for _ in range(1 if operation in ("square", "exp") else 2)]
        rows.append((operation, f"r{number}", *operands))
        names.append(f"r{number}")
    rows += [("add", "t", names[-1], "m"), ("sum", "z", "t")]
    tape = _tape(exercise, numbers, rows)
    line = _tape(exercise, {"x": random.normal(size=3)}, [("sum", "s", "x"), ("mul", "z", "x", "s")])
    return {
        "unbroadcast": np.asarray(exercise.unbroadcast(np.asarray(random.normal(size=shape)), operand)),
        "order": list(exercise.order(tape.rows, names[-1])),
        "jacobian": np.asarray(exercise.jacobian(line, "z", "x")),
        "weighted": _gradients(tape, "m", random.normal(size=(2, 2))),
        **_gradients(tape, "z"),
    }
