"""You compute with `x` and `y` themselves. They are names, such as "width"; the numbers are
`self.values[x]` and `self.values[y]`.
"""


class Tape:
    def __init__(self):
        self.values = {}  # name -> number
        self.rows = []  # what was computed, in order

    def number(self, name, value):
        self.values[name] = value

    def mul(self, result, x, y):
        self.values[result] = x * y
        self.rows.append((result, "mul", x, y))

    def add(self, result, x, y):
        self.values[result] = x + y
        self.rows.append((result, "add", x, y))
