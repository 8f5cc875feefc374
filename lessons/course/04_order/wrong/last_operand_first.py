"""You go on with the operand that you found last, as far back as it goes. So you visit a row before all rows
that use its result have been visited: its gradient is not complete yet.
"""


def order(rows, last):
    row_of = {row[0]: row for row in rows}
    visited = []
    waiting = [last]
    while waiting:
        name = waiting.pop()
        if name in row_of and row_of[name] not in visited:
            visited.append(row_of[name])
            waiting.extend(row_of[name][2:])
    return visited
