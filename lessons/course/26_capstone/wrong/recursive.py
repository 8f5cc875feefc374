"""Your `order` calls itself once for each row on the way to a leaf, and Python allows about a
thousand nested calls. Use a loop, with a set of the results that are needed.
"""


def order(rows, last):
    row_of = {row[0]: row for row in rows}
    found = []

    def visit(name):
        for operand in row_of[name][2:]:
            if operand in row_of and row_of[operand] not in found:
                visit(operand)
        found.append(row_of[name])

    visit(last)
    return found[::-1]
