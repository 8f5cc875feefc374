import numpy as np

THREE = np.array([1.0, 2.0, 3.0])


def weighted_squares(exercise):
    """backward: z = x · x at [1, 2, 3], weights 1, 10 and 100"""
    tape = _tape(exercise, {"x": THREE}, [("mul", "z", "x", "x")])
    return _plain(tape.backward("z", np.array([1.0, 10.0, 100.0])))


def weighted_shares(exercise):
    """backward: z = x · s with s = sum of x, at [1, 2, 3], weights 1, 10 and 100"""
    tape = _tape(exercise, {"x": THREE}, [("sum", "s", "x"), ("mul", "z", "x", "s")])
    return _plain(tape.backward("z", np.array([1.0, 10.0, 100.0])))


def one_result_counts(exercise):
    """backward: the same with weights 0, 1 and 0"""
    tape = _tape(exercise, {"x": THREE}, [("sum", "s", "x"), ("mul", "z", "x", "s")])
    return _plain(tape.backward("z", np.array([0.0, 1.0, 0.0])))


def weight_of_a_number(exercise):
    """backward: a single number, with the weight 5 and without one"""
    tape = _tape(exercise, {"x": 3.0}, [("square", "z", "x")])
    return {"weight 5": _plain(tape.backward("z", 5.0)), "no weight": _plain(tape.backward("z"))}


def refuses(exercise):
    """backward without weights: from three numbers, and from one number in an array"""
    three = _tape(exercise, {"x": THREE}, [("mul", "z", "x", "x")])
    one = _tape(exercise, {"x": THREE[:1]}, [("mul", "z", "x", "x")])
    try:
        three.backward("z")
    except ValueError:
        refused = "raises ValueError"
    else:
        refused = "begins"
    return {"from three numbers": refused, "from one": _plain({"x": one.backward("z")["x"]})}


def table_of_squares(exercise):
    """jacobian: z = x · x at [1, 2, 3]"""
    return np.asarray(exercise.jacobian(_tape(exercise, {"x": THREE}, [("mul", "z", "x", "x")]), "z", "x"))


def table_of_shares(exercise):
    """jacobian: z = x · s · y with s = sum of x, at x = [1, 2, 3] and y = [1, 2, 4]"""
    numbers = {"x": THREE, "y": np.array([1.0, 2.0, 4.0])}
    rows = [("sum", "s", "x"), ("mul", "t", "x", "s"), ("mul", "z", "t", "y")]
    return np.asarray(exercise.jacobian(_tape(exercise, numbers, rows), "z", "x"))


def more_results_than_inputs(exercise):
    """jacobian: three results of one input, z = x · [1, 2, 3] at x = [5]"""
    tape = _tape(exercise, {"x": np.array([5.0]), "y": THREE}, [("mul", "z", "x", "y")])
    return np.asarray(exercise.jacobian(tape, "z", "x"))


def not_written_into(exercise):
    """backward: the numbers of the tape and the weights are unchanged afterwards"""
    tape = _tape(
        exercise, {"x": THREE.copy()}, [("add", "y", "x", "x"), ("mul", "s", "y", "x"), ("add", "z", "s", "s")]
    )
    weights = np.array([1.0, 10.0, 100.0])
    tape.backward("z", weights)
    return {"tape.values": _values(tape), "weights": weights}


def every_operation(exercise):
    """backward: every operation so far, a row that leads nowhere, a row and a column that are stretched"""
    numbers = {"row": THREE[:2] / 2, "column": np.array([[0.5], [2.0]])}
    rows = [
        ("exp", "u", "row"),
        ("square", "v", "u"),
        ("mul", "w", "v", "column"),
        ("exp", "aside", "w"),
        ("add", "t", "w", "u"),
        ("sum", "z", "t"),
    ]
    tape = _tape(exercise, numbers, rows)
    return {"tape.rows": tape.rows, "tape.values": _values(tape), **_plain(tape.backward("z"))}


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
    shape = tuple(int(size) for size in random.integers(1, 4, int(random.integers(0, 4))))
    operand = tuple(1 if random.random() < 0.4 else size for size in shape[int(random.integers(0, len(shape) + 1)) :])
    numbers = {"x": random.normal(size=3), "y": random.normal(size=3)}
    names, rows = list(numbers), [("sum", "s", "x"), ("mul", "t", "y", "s")]
    for number in range(int(random.integers(1, 5))):
        operation = str(random.choice(["add", "mul", "square", "exp"]))
        operands = [str(random.choice([*names, "t"])) for _ in range(1 if operation in ("square", "exp") else 2)]
        rows.append((operation, f"r{number}", *operands))
        names.append(f"r{number}")
    rows.append(("add", "z", names[-1], "t"))
    tape = _tape(exercise, numbers, rows)
    return {
        "unbroadcast": np.asarray(exercise.unbroadcast(np.asarray(random.normal(size=shape)), operand)),
        "order": exercise.order(tape.rows, names[-1]),
        "jacobian": np.asarray(exercise.jacobian(tape, "z", "x")),
        **_plain(tape.backward("z", random.normal(size=3))),
    }
