"""You follow every way from the result back to a row, so a row whose result is used twice is in your list
twice. It runs once, when all its gradients have arrived.
"""


def order(rows, last):
    visited = []
    for row in rows:
        if row[0] == last:
            visited.append(row)
            for name in row[2:]:
                visited += order(rows, name)
    return visited
