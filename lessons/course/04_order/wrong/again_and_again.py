"""You visit a result once for each time it is used. It runs once, when all its gradients have
arrived.
"""


def order(rows, last):
    operands_of = dict(rows)
    visited = []
    waiting = [last]
    while waiting:
        name = waiting.pop(0)
        if name in operands_of:
            visited.append(name)
            waiting.extend(operands_of[name])
    return visited
