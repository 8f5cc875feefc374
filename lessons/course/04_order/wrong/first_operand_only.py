"""You go on with the first operand of a row alone. All its operands are needed: `row[2:]`."""


def order(rows, last):
    visited = []
    needed = {last}
    for row in reversed(rows):
        if row[0] in needed:
            visited.append(row)
            needed.add(row[2])
    return visited
