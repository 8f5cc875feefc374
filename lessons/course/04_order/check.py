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
    return _order(exercise, CHAIN, "z")


def shorter_chain(exercise):
    """order: the same chain again, from b"""
    return {"from z": _order(exercise, CHAIN, "z"), "from b": _order(exercise, CHAIN, "b")}


def lesson(exercise):
    """order: the lesson's program, a from x, b from a, z from b and a"""
    return _order(exercise, [("a", "square", "x"), ("b", "exp", "a"), ("z", "mul", "b", "a")], "z")


def other_way_round(exercise):
    """order: the same with the operands the other way round, z from a and b"""
    return _order(exercise, [("a", "square", "x"), ("b", "exp", "a"), ("z", "mul", "a", "b")], "z")


def side_by_side(exercise):
    """order: two branches side by side, c from x, d from y, then e from c and d"""
    return _order(exercise, [("c", "exp", "x"), ("d", "exp", "y"), ("e", "mul", "c", "d")], "e")


def side_by_side_other_way(exercise):
    """order: the same with the operands the other way round, e from d and c"""
    return _order(exercise, [("c", "exp", "x"), ("d", "exp", "y"), ("e", "mul", "d", "c")], "e")


def twice_in_one(exercise):
    """order: both operands are the same, a from x, z from a and a"""
    return _order(exercise, [("a", "exp", "x"), ("z", "mul", "a", "a")], "z")


def aside(exercise):
    """order: two rows lead nowhere, a2 from x, a and b from a2, z from a2"""
    rows = [("a2", "exp", "x"), ("a", "exp", "a2"), ("b", "exp", "a2"), ("z", "square", "a2")]
    return _order(exercise, rows, "z")


def not_the_last_row(exercise):
    """order: a row comes after z, where backward starts"""
    return _order(exercise, [("a", "exp", "x"), ("z", "square", "a"), ("later", "exp", "z")], "z")


def ladder(exercise):
    """order: a ladder, in which each result is used by the next two"""
    return _order(exercise, LADDER, "z")


def afterwards(exercise):
    """order: the rows of the tape stay as they are"""
    rows = list(LADDER)
    list(exercise.order(rows, "z"))
    return rows


def gradients(exercise):
    """backward of that ladder, at x = 0.5"""
    tape = _tape(exercise, {"x": 0.5}, [(operation, *names) for names, operation in _split(LADDER)])
    return _gradients(tape, "z")


def from_the_middle(exercise):
    """backward from the middle of a tape: a = x², z = a · x, aside = eᵃ, later = z · aside, from z"""
    rows = [("square", "a", "x"), ("mul", "z", "a", "x"), ("exp", "aside", "a"), ("mul", "later", "z", "aside")]
    tape = _tape(exercise, {"x": 0.5}, rows)
    return {**_gradients(tape, "z"), "tape.rows": tape.rows, "tape.values": _values(tape)}


def all_of_it(exercise):
    """backward of the same tape from its last row"""
    rows = [("square", "a", "x"), ("mul", "z", "a", "x"), ("exp", "aside", "a"), ("mul", "later", "z", "aside")]
    return _gradients(_tape(exercise, {"x": 0.5}, rows), "later")


def _order(exercise, rows, last):
    return list(exercise.order(list(rows), last))


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


def _gradients(tape, last):
    """The gradients by name. One that is missing is 0, and 0 is as good as zeros."""
    gradients = tape.backward(last)
    found = {name: np.asarray(gradients.get(name, 0.0), float) for name in sorted(tape.values)}
    return {f"gradient of {name}": gradient.tolist() if gradient.any() else 0.0 for name, gradient in found.items()}


def at_random(exercise, random):
    names, rows = ["x", "y"], []
    for number in range(int(random.integers(1, 8))):
        operation = str(random.choice(["add", "mul", "square", "exp"]))
        operands = [str(random.choice(names)) for _ in range(1 if operation in ("square", "exp") else 2)]
        rows.append((operation, f"r{number}", *operands))
        names.append(f"r{number}")
    tape = _tape(exercise, {"x": 0.5, "y": -0.25}, rows)
    last = str(random.choice(names[2:]))
    return {"order": _order(exercise, tape.rows, last), **_gradients(tape, last)}
