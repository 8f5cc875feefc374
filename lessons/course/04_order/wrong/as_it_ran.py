"""This is the order in which the program ran. Backward begins at the end."""


def order(rows, last):
    visited = []
    needed = {last}
    for result, operands in reversed(rows):
        if result in needed:
            visited.append(result)
            needed.update(operands)
    return visited[::-1]
