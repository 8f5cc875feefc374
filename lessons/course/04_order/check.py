import numpy as np

CHAIN = [("a", "square", "x"), ("b", "exp", "a"), ("z", "square", "b")]
LADDER = [
    ("a", "square", "x"),
    ("b", "mul", "a", "x"),
    ("c", "add", "b", "a"),
    ("d", "mul", "c", "b"),
    ("z", "add", "d", "a"),
]


def chain(exercise):
    """order: a chain, a from x, b from a, z from b"""
    return exercise.order(CHAIN, "z")


def lesson(exercise):
    """order: the lesson's program, a from x, b from a, z from b and a"""
    return exercise.order([("a", "square", "x"), ("b", "exp", "a"), ("z", "mul", "b", "a")], "z")


def other_way_round(exercise):
    """order: the same with the operands the other way round, z from a and b"""
    return exercise.order([("a", "square", "x"), ("b", "exp", "a"), ("z", "mul", "a", "b")], "z")


def side_by_side(exercise):
    """order: two branches side by side, c from x, d from y, then e from c and d"""
    return exercise.order([("c", "exp", "x"), ("d", "exp", "y"), ("e", "mul", "c", "d")], "e")


def twice_in_one(exercise):
    """order: both operands are the same, a from x, z from a and a"""
    return exercise.order([("a", "exp", "x"), ("z", "mul", "a", "a")], "z")


def aside(exercise):
    """order: one row leads nowhere, a from x, aside from a, z from a"""
    return exercise.order([("a", "exp", "x"), ("aside", "exp", "a"), ("z", "square", "a")], "z")


def not_the_last_row(exercise):
    """order: a row comes after z, where backward starts"""
    return exercise.order([("a", "exp", "x"), ("z", "square", "a"), ("later", "exp", "z")], "z")


def ladder(exercise):
    """order: a ladder, in which each result is used by the next two"""
    return exercise.order(LADDER, "z")


def gradients(exercise):
    """backward of that ladder, at x = 0.5"""
    tape = _tape(exercise, {"x": 0.5}, [(operation, *names) for names, operation in _split(LADDER)])
    return _plain(tape.backward("z"))


def from_the_middle(exercise):
    """backward from the middle of a tape: a = x², z = a · x, aside = eᵃ, later = z · aside, from z"""
    rows = [("square", "a", "x"), ("mul", "z", "a", "x"), ("exp", "aside", "a"), ("mul", "later", "z", "aside")]
    tape = _tape(exercise, {"x": 0.5}, rows)
    return {"tape.rows": tape.rows, "tape.values": _values(tape), **_plain(tape.backward("z"))}


def all_of_it(exercise):
    """backward of the same tape from its last row"""
    rows = [("square", "a", "x"), ("mul", "z", "a", "x"), ("exp", "aside", "a"), ("mul", "later", "z", "aside")]
    return _plain(_tape(exercise, {"x": 0.5}, rows).backward("later"))


def _split(rows):
    return [((result, *operands), operation) for result, operation, *operands in rows]


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
    for number in range(int(random.integers(1, 8))):
        operation = str(random.choice(["add", "mul", "square", "exp"]))
        operands = [str(random.choice(names)) for _ in range(1 if operation in ("square", "exp") else 2)]
        rows.append((operation, f"r{number}", *operands))
        names.append(f"r{number}")
    tape = _tape(exercise, {"x": 0.5, "y": -0.25}, rows)
    last = str(random.choice(names[2:]))
    return {"order": exercise.order(tape.rows, last), **_plain(tape.backward(last))}
