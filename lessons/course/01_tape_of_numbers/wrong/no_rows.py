"""You compute the numbers, but write nothing down: `tape.rows` stays empty. Without rows, backward
has nothing to visit.
"""


class Tape:
    def __init__(self):
        self.values = {}  # name -> number
        self.rows = []  # what was computed, in order

    def number(self, name, value):
        self.values[name] = value

    def mul(self, result, x, y):
        self.values[result] = self.values[x] * self.values[y]

    def add(self, result, x, y):
        self.values[result] = self.values[x] + self.values[y]
