"""All your tapes share one dictionary of numbers, which is made once, for the class or as a default
argument: the names of an earlier tape are still in it. Make a new one for each tape, in `__init__`:
`self.values = {}`.
"""


class Tape:
    values = {}  # name -> number

    def __init__(self):
        self.rows = []  # what was computed, in order

    def number(self, name, value):
        self.values[name] = value

    def mul(self, result, x, y):
        self.values[result] = self.values[x] * self.values[y]
        self.rows.append((result, "mul", x, y))

    def add(self, result, x, y):
        self.values[result] = self.values[x] + self.values[y]
        self.rows.append((result, "add", x, y))
