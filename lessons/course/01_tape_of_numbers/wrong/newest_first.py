"""You put new rows at the front. The tape keeps the order in which the operations ran, so that
backward can read it from its end. New rows go at the end.
"""


class Tape:
    def __init__(self):
        self.values = {}  # name -> number
        self.rows = []  # what was computed, in order

    def number(self, name, value):
        self.values[name] = value

    def mul(self, result, x, y):
        self.values[result] = self.values[x] * self.values[y]
        self.rows.insert(0, (result, "mul", x, y))

    def add(self, result, x, y):
        self.values[result] = self.values[x] + self.values[y]
        self.rows.insert(0, (result, "add", x, y))
