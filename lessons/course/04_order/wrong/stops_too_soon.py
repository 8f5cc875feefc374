"""You stop at the first row that is not needed. There may be needed rows before it: go on with `continue`."""


def order(rows, last):
    visited = []
    needed = {last}
    for row in reversed(rows):
        if row[0] not in needed:
            break
        visited.append(row)
        needed.update(row[2:])
    return visited
