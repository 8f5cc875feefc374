"""You find only the row of `last`. What its operands depend on is needed too: at each row that is needed, go
on from the last row to the first, and `needed.update(row[2:])`.
"""


def order(rows, last):
    return [row for row in rows if row[0] == last]
