"""You look for the row of every name, but a leaf has none: no operation computed it. If a name has
no row, skip it.
"""


def order(rows, last):
    row_of = {row[0]: row for row in rows}
    visited = []
    waiting = [last]
    while waiting:
        row = row_of[waiting.pop()]
        visited.append(row)
        waiting.extend(row[2:])
    return visited
