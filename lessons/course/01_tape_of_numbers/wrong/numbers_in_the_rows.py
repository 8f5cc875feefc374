"""Your rows hold numbers where the names should be. A number does not say which name it belongs to:
a 6 may have come from anywhere. Write the names `x` and `y` into the row, not their values.
"""


class Tape:
    def __init__(self):
        self.values = {}  # name -> number
        self.rows = []  # what was computed, in order

    def number(self, name, value):
        self.values[name] = value

    def mul(self, result, x, y):
        self.values[result] = self.values[x] * self.values[y]
        self.rows.append((result, "mul", self.values[x], self.values[y]))

    def add(self, result, x, y):
        self.values[result] = self.values[x] + self.values[y]
        self.rows.append((result, "add", self.values[x], self.values[y]))
