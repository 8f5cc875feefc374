import numpy as np

THREE = np.array([1.0, 2.0, 3.0])


def weighted_squares(exercise):
    """backward: z = x · x at [1, 2, 3], weights 1, 10 and 100"""
    tape = _tape(exercise, {"x": THREE}, [("mul", "z", "x", "x")])
    return _gradients(tape, "z", np.array([1.0, 10.0, 100.0]))


def weighted_shares(exercise):
    """backward: z = x · s with s = sum of x, at [1, 2, 3], weights 1, 10 and 100"""
    tape = _tape(exercise, {"x": THREE}, [("sum", "s", "x"), ("mul", "z", "x", "s")])
    return _gradients(tape, "z", np.array([1.0, 10.0, 100.0]))


def one_result_counts(exercise):
    """backward: the same with weights 0, 1 and 0"""
    tape = _tape(exercise, {"x": THREE}, [("sum", "s", "x"), ("mul", "z", "x", "s")])
    return _gradients(tape, "z", np.array([0.0, 1.0, 0.0]))


def weight_of_a_number(exercise):
    """backward: a single number, with the weight 5 and without one"""
    tape = _tape(exercise, {"x": 3.0}, [("square", "z", "x")])
    return {"weight 5": _gradients(tape, "z", 5.0), "no weight": _gradients(tape, "z")}


def refuses(exercise):
    """backward without weights: from three numbers, and from one number in an array"""
    three = _tape(exercise, {"x": THREE}, [("mul", "z", "x", "x")])
    one = _tape(exercise, {"x": THREE[:1]}, [("mul", "z", "x", "x")])
    return {"from three numbers": _refusal(three), "from one": _gradients(one, "z")["gradient of x"]}


def table_of_squares(exercise):
    """jacobian: z = x · x at [1, 2, 3]"""
    return _table(exercise.jacobian(_tape(exercise, {"x": THREE}, [("mul", "z", "x", "x")]), "z", "x"))


def table_of_shares(exercise):
    """jacobian: z = x · s · y with s = sum of x, at x = [1, 2, 3] and y = [0.75, 2, 4]"""
    numbers = {"x": THREE, "y": np.array([0.75, 2.0, 4.0])}
    rows = [("sum", "s", "x"), ("mul", "t", "x", "s"), ("mul", "z", "t", "y")]
    return _table(exercise.jacobian(_tape(exercise, numbers, rows), "z", "x"))


def afterwards(exercise):
    """jacobian: the tape is the same afterwards"""
    tape = _tape(exercise, {"x": THREE}, [("mul", "z", "x", "x")])
    exercise.jacobian(tape, "z", "x")
    return {"tape.rows": tape.rows, "tape.values": tape.values}


def more_results_than_inputs(exercise):
    """jacobian: three results of one input, z = x · [1, 2, 3] at x = [5]"""
    tape = _tape(exercise, {"x": np.array([5.0]), "y": THREE}, [("mul", "z", "x", "y")])
    return _table(exercise.jacobian(tape, "z", "x"))


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
    return {**_gradients(tape, "z"), "tape.rows": tape.rows, "tape.values": _values(tape)}


def _refusal(tape):
    """What becomes of backward without weights."""
    try:
        found = tape.backward("z")
    except ValueError:
        return "raises ValueError"
    except NotImplementedError:
        raise
    except Exception as error:
        return f"raises {type(error).__name__}"
    return "begins" if isinstance(found, dict) else found


def _table(found):
    return np.asarray(found) if isinstance(found, list | tuple) else found


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
        "order": list(exercise.order(tape.rows, names[-1])),
        "jacobian": _table(exercise.jacobian(tape, "z", "x")),
        **_gradients(tape, "z", random.normal(size=3)),
    }
