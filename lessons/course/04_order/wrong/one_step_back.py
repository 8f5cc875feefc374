"""You find the rows of the operands of `last`, and stop there. Those have operands too: when you come to a
row that is needed, its operands are needed as well.
"""


def order(rows, last):
    needed = {last}
    for row in rows:
        if row[0] == last:
            needed.update(row[2:])
    return [row for row in reversed(rows) if row[0] in needed]
