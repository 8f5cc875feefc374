"""You follow each operand as far back as it goes before you look at the next one. So you visit a
row before all rows that use its result have been visited: its gradient is not complete yet.
"""


def order(rows, last):
    row_of = {row[0]: row for row in rows}
    visited = []

    def visit(name):
        if name in row_of and row_of[name] not in visited:
            visited.append(row_of[name])
            for operand in row_of[name][2:]:
                visit(operand)

    visit(last)
    return visited
