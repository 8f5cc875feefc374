"""You always look up the names "x" and "y". `x` without quotes is the name that `mul` was given:
"width" this time, another name next time.
"""


class Tape:
    def __init__(self):
        self.values = {}  # name -> number
        self.rows = []  # what was computed, in order

    def number(self, name, value):
        self.values[name] = value

    def mul(self, result, x, y):
        self.values[result] = self.values["x"] * self.values["y"]
        self.rows.append((result, "mul", x, y))

    def add(self, result, x, y):
        self.values[result] = self.values["x"] + self.values["y"]
        self.rows.append((result, "add", x, y))
