"""You leave out `last` itself. Backward visits it first."""


def order(rows, last):
    visited = []
    needed = {last}
    for result, operands in reversed(rows):
        if result in needed:
            if result != last:
                visited.append(result)
            needed.update(operands)
    return visited
