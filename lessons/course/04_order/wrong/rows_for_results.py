"""You return rows. Return the names of their results: the first part of each row."""


def order(rows, last):
    visited = []
    needed = {last}
    for result, operands in reversed(rows):
        if result in needed:
            visited.append((result, operands))
            needed.update(operands)
    return visited
