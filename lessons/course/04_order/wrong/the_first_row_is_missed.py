"""You leave out the first row of the tape. It has the index 0, so a range that ends at it needs -1 as its
stop; `reversed(rows)` needs no indexes.
"""


def order(rows, last):
    visited = []
    needed = {last}
    for i in range(len(rows) - 1, 0, -1):
        if rows[i][0] in needed:
            visited.append(rows[i])
            needed.update(rows[i][2:])
    return visited
