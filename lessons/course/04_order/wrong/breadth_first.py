"""You go back layer by layer: first the operands of the result, then the operands of those. But one
layer can use another: a row must wait for all rows that use its result, however far away they are.
"""


def order(rows, last):
    row_of = {row[0]: row for row in rows}
    visited = []
    waiting = [last]
    while waiting:
        name = waiting.pop(0)
        if name in row_of and row_of[name] not in visited:
            visited.append(row_of[name])
            waiting.extend(row_of[name][2:])
    return visited
