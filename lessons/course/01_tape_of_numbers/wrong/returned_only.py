"""You compute the number and return it, but do not store it. Put it into `self.values` under the
name `result`, and add a row to `self.rows`.
"""


class Tape:
    def __init__(self):
        self.values = {}  # name -> number
        self.rows = []  # what was computed, in order

    def number(self, name, value):
        self.values[name] = value

    def mul(self, result, x, y):
        return self.values[x] * self.values[y]

    def add(self, result, x, y):
        return self.values[x] + self.values[y]
