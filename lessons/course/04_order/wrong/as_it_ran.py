"""This is the order in which the program ran. Backward begins at the end."""


def order(rows, last):
    visited = []
    needed = {last}
    for row in reversed(rows):
        if row[0] in needed:
            visited.append(row)
            needed.update(row[2:])
    return visited[::-1]
