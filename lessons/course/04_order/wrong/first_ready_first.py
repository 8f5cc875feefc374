"""Of the rows that are ready, you run the one that has been ready for the longest time. Where there is a
choice, the row that was written later goes first.
"""


def order(rows, last):
    row_of = {row[0]: row for row in rows}
    needed = {last}
    for row in reversed(rows):
        if row[0] in needed:
            needed.update(row[2:])
    waits = dict.fromkeys(needed, 0)
    for row in rows:
        if row[0] in needed:
            for name in row[2:]:
                waits[name] += 1
    visited = []
    ready = [last]
    while ready:
        row = row_of.get(ready.pop(0))
        if row is not None:
            visited.append(row)
            for name in row[2:]:
                waits[name] -= 1
                if waits[name] == 0:
                    ready.append(name)
    return visited
