"""Your list has leaves in it. They have no row on this tape; give only the results of rows."""


def order(rows, last):
    visited = []
    needed = {last}
    for result, operands in reversed(rows):
        if result in needed:
            visited.append(result)
            needed.update(operands)
    leaves = sorted(needed - set(visited))
    return visited + leaves
