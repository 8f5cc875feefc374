"""One method does the work. A table holds what differs between the operations."""

import operator

OPERATIONS = {"mul": operator.mul, "add": operator.add}


class Tape:
    def __init__(self):
        self.values = {}
        self.rows = []

    def number(self, name, value):
        self.values[name] = value

    def run(self, operation, result, *operands):
        numbers = [self.values[name] for name in operands]
        self.number(result, OPERATIONS[operation](*numbers))
        self.rows.append((result, operation, *operands))

    def mul(self, result, x, y):
        self.run("mul", result, x, y)

    def add(self, result, x, y):
        self.run("add", result, x, y)
