"""All your tapes share one list of rows, which is made once, for the class or as a default argument: the
rows of an earlier tape are still in it. Make a new one for each tape, in `__init__`: `self.rows = []`.
"""


class Tape:
    rows = []  # what was computed, in order

    def __init__(self):
        self.values = {}  # name -> number

    def number(self, name, value):
        self.values[name] = value

    def mul(self, result, x, y):
        self.values[result] = self.values[x] * self.values[y]
        self.rows.append((result, "mul", x, y))

    def add(self, result, x, y):
        self.values[result] = self.values[x] + self.values[y]
        self.rows.append((result, "add", x, y))
