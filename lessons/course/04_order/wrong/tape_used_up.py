"""You take the rows off the tape, and the next backward finds none. `reversed(rows)` leaves them where they
are.
"""


def order(rows, last):
    visited = []
    needed = {last}
    while rows:
        row = rows.pop()
        if row[0] in needed:
            visited.append(row)
            needed.update(row[2:])
    return visited
