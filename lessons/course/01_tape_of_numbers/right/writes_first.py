"""The row is written before its number is computed, and each operation makes a new list of rows."""


class Tape:
    def __init__(self):
        self.values = {}
        self.rows = []

    def number(self, name, value):
        self.values.update({name: value})

    def mul(self, result, x, y):
        self.rows = [*self.rows, (result, "mul", x, y)]
        a, b = self.values[x], self.values[y]
        self.number(result, b * a)

    def add(self, result, x, y):
        self.rows = [*self.rows, (result, "add", x, y)]
        a, b = self.values[x], self.values[y]
        self.number(result, b + a)
