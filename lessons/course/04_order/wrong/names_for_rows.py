"""You return names. Return the rows themselves: `backward` needs their operations and operands."""


def order(rows, last):
    visited = []
    needed = {last}
    for row in reversed(rows):
        if row[0] in needed:
            visited.append(row[0])
            needed.update(row[2:])
    return visited
