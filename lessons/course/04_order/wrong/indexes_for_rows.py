"""You return the places of the rows. Return the rows themselves: `rows[i]`."""


def order(rows, last):
    visited = []
    needed = {last}
    for i in reversed(range(len(rows))):
        if rows[i][0] in needed:
            visited.append(i)
            needed.update(rows[i][2:])
    return visited
