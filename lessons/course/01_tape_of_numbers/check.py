def product(exercise):
    """mul("z", "x", "y") with x = 3 and y = 2"""
    return _play(exercise, {"x": 3.0, "y": 2.0}, ("mul", "z", "x", "y"))


def sum_(exercise):
    """add("z", "x", "y") with x = 3 and y = 2"""
    return _play(exercise, {"x": 3.0, "y": 2.0}, ("add", "z", "x", "y"))


def two_rows(exercise):
    """area = width · height, then total = area + border, at 3, 2 and 1"""
    numbers = {"width": 3.0, "height": 2.0, "border": 1.0}
    return _play(exercise, numbers, ("mul", "area", "width", "height"), ("add", "total", "area", "border"))


def same_operand(exercise):
    """A number times itself, plus itself: s = x · x, then z = s + s, at x = 2.5"""
    return _play(exercise, {"x": 2.5}, ("mul", "s", "x", "x"), ("add", "z", "s", "s"))


def two_tapes(exercise):
    """Two tapes: what is written on one does not appear on the other"""
    one, other = exercise.Tape(), exercise.Tape()
    for tape in (one, other):
        tape.number("x", 2.0)
    one.mul("y", "x", "x")
    return {"rows of the tape that was used": one.rows, "rows of the other tape": other.rows}


def _play(exercise, numbers, *operations):
    tape = exercise.Tape()
    for name, value in numbers.items():
        tape.number(name, value)
    for operation, *names in operations:
        getattr(tape, operation)(*names)
    return {"tape.values": tape.values, "tape.rows": tape.rows}
