"""Only the last row is there. You replace the list of rows by a new one. Append to it instead:
every operation stays on the tape.
"""


class Tape:
    def __init__(self):
        self.values = {}  # name -> number
        self.rows = []  # what was computed, in order

    def number(self, name, value):
        self.values[name] = value

    def mul(self, result, x, y):
        self.values[result] = self.values[x] * self.values[y]
        self.rows = [(result, "mul", x, y)]

    def add(self, result, x, y):
        self.values[result] = self.values[x] + self.values[y]
        self.rows = [(result, "add", x, y)]
