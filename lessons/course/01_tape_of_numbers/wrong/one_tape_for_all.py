"""All your tapes share their numbers and rows, which are made once, for the class. Make new ones for each
tape: `self.values = {}` and `self.rows = []` in `__init__`.
"""


class Tape:
    values = {}  # name -> number
    rows = []  # what was computed, in order

    def number(self, name, value):
        self.values[name] = value

    def mul(self, result, x, y):
        self.values[result] = self.values[x] * self.values[y]
        self.rows.append((result, "mul", x, y))

    def add(self, result, x, y):
        self.values[result] = self.values[x] + self.values[y]
        self.rows.append((result, "add", x, y))
