"""You look for the row of every name, but a leaf has none: no operation computed it. If a name has
no row, skip it.
"""


def order(rows, last):
    operands_of = dict(rows)
    visited = []
    waiting = [last]
    while waiting:
        name = waiting.pop()
        visited.append(name)
        waiting.extend(operands_of[name])
    return visited
