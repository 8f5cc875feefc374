"""You go back layer by layer: first the operands of the result, then the operands of those. But one
layer can use another: a result must wait for all rows that use it, however far away they are.
"""


def order(rows, last):
    operands_of = dict(rows)
    visited = []
    waiting = [last]
    while waiting:
        name = waiting.pop(0)
        if name in operands_of and name not in visited:
            visited.append(name)
            waiting.extend(operands_of[name])
    return visited
