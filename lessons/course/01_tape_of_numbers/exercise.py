# A tape of your own.
#
# A Tape knows numbers by name. `number` puts one in. `mul` and
# `add` compute a new number from two others, and write down what
# they did:
#
#     tape = Tape()
#     tape.number("x", 3.0)
#     tape.number("y", 2.0)
#     tape.mul("z", "x", "y")
#
#     tape.values    {"x": 3.0, "y": 2.0, "z": 6.0}
#     tape.rows      [("z", "mul", "x", "y")]
#
# A row is made of names: the result, the operation, the two
# operands. New rows go at the end.
#
# Complete `mul` and `add`.


class Tape:
    def __init__(self):
        self.values = {}  # name -> number
        self.rows = []  # what was computed, in order

    def number(self, name, value):
        self.values[name] = value

    def mul(self, result, x, y):
        raise NotImplementedError

    def add(self, result, x, y):
        raise NotImplementedError


if __name__ == "__main__":
    tape = Tape()
    tape.number("x", 3.0)
    tape.number("y", 2.0)
    tape.mul("z", "x", "y")
    print(tape.values)
    print(tape.rows)
