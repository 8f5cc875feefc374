# A tape of your own: one way to write it.
#
# Compute, then write down. The row holds names and not numbers: a number
# does not say where it came from, and backward has to know exactly that.


class Tape:
    def __init__(self):
        self.values = {}  # name -> number
        self.rows = []  # what was computed, in order

    def number(self, name, value):
        self.values[name] = value

    def mul(self, result, x, y):
        self.values[result] = self.values[x] * self.values[y]
        self.rows.append((result, "mul", x, y))

    def add(self, result, x, y):
        self.values[result] = self.values[x] + self.values[y]
        self.rows.append((result, "add", x, y))


if __name__ == "__main__":
    tape = Tape()
    tape.number("x", 3.0)
    tape.number("y", 2.0)
    tape.mul("z", "x", "y")
    print(tape.values)
    print(tape.rows)
