"""You write the rows, but compute nothing: `tape.values` has no entry for the result. An operation
does both.
"""


class Tape:
    def __init__(self):
        self.values = {}  # name -> number
        self.rows = []  # what was computed, in order

    def number(self, name, value):
        self.values[name] = value

    def mul(self, result, x, y):
        self.rows.append((result, "mul", x, y))

    def add(self, result, x, y):
        self.rows.append((result, "add", x, y))
