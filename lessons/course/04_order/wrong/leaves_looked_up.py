"""You look for the row of every name, and a leaf has none: nothing computed it. Where a name has no
row, there is nothing to go on to.
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
