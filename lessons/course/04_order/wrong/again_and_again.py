"""You visit a row once for each time its result is used. It runs once, when all its gradients have
arrived.
"""


def order(rows, last):
    row_of = {row[0]: row for row in rows}
    visited = []
    waiting = [last]
    while waiting:
        name = waiting.pop(0)
        if name in row_of:
            visited.append(row_of[name])
            waiting.extend(row_of[name][2:])
    return visited
