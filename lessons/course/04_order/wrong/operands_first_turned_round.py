"""Your order is a sound one: no row runs before those that use its result. But it is not the tape's. Where
there is a choice, the row that was written later goes first.
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
    return visited[::-1]
