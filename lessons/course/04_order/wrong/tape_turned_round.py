"""You turn the rows of the tape round, and the next backward finds them the wrong way round. `reversed(rows)`
leaves them as they are.
"""


def order(rows, last):
    visited = []
    needed = {last}
    rows.reverse()
    for row in rows:
        if row[0] in needed:
            visited.append(row)
            needed.update(row[2:])
    return visited
