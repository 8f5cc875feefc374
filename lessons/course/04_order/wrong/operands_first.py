"""You visit the operands of a row before the row itself. Backward goes the other way: a row runs before those
that made its operands.
"""


def order(rows, last):
    row_of = {row[0]: row for row in rows}
    visited = []

    def visit(name):
        if name in row_of and row_of[name] not in visited:
            for operand in row_of[name][2:]:
                visit(operand)
            visited.append(row_of[name])

    visit(last)
    return visited
