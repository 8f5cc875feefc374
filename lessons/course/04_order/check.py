def chain(exercise):
    """A chain: a from x, b from a, z from b"""
    return exercise.order([("a", ["x"]), ("b", ["a"]), ("z", ["b"])], "z")


def lesson(exercise):
    """The lesson's program: a from x, b from a, z from b and a"""
    return exercise.order([("a", ["x"]), ("b", ["a"]), ("z", ["b", "a"])], "z")


def other_way_round(exercise):
    """The same with the operands the other way round: z from a and b"""
    return exercise.order([("a", ["x"]), ("b", ["a"]), ("z", ["a", "b"])], "z")


def side_by_side(exercise):
    """Two branches side by side: c from x, d from y, then e from c and d"""
    return exercise.order([("c", ["x"]), ("d", ["y"]), ("e", ["c", "d"])], "e")


def twice_in_one(exercise):
    """Both operands are the same: a from x, z from a and a"""
    return exercise.order([("a", ["x"]), ("z", ["a", "a"])], "z")


def aside(exercise):
    """One row leads nowhere: a from x, aside from a, z from a"""
    return exercise.order([("a", ["x"]), ("aside", ["a"]), ("z", ["a"])], "z")


def not_the_last_row(exercise):
    """A row comes after z, where backward starts: later from z"""
    return exercise.order([("a", ["x"]), ("z", ["a"]), ("later", ["z"])], "z")


def ladder(exercise):
    """A ladder: a from x, then b from a and x, c from b and a, d from c and b, z from d and a"""
    rows = [("a", ["x"]), ("b", ["a", "x"]), ("c", ["b", "a"]), ("d", ["c", "b"]), ("z", ["d", "a"])]
    return exercise.order(rows, "z")
