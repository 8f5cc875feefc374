"""Your list has leaves in it. Leaves have no row on this tape; return only the results of rows."""


def order(rows, last):
    visited = []
    needed = {last}
    for result, operands in reversed(rows):
        if result in needed:
            visited.append(result)
            needed.update(operands)
    leaves = sorted(needed - set(visited))
    return visited + leaves
