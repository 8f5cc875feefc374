"""You follow each operand as far back as it goes before you look at the next one. So you visit a
result before all rows that use it have been visited: its gradient is not complete yet.
"""


def order(rows, last):
    operands_of = dict(rows)
    visited = []

    def visit(name):
        if name in operands_of and name not in visited:
            visited.append(name)
            for operand in operands_of[name]:
                visit(operand)

    visit(last)
    return visited
