"""A default value is made once, when `def` runs, so your set still holds the names of earlier calls. Begin
with a new one inside the function: `needed = {last}`.
"""


def order(rows, last, needed=set()):
    visited = []
    needed.add(last)
    for row in reversed(rows):
        if row[0] in needed:
            visited.append(row)
            needed.update(row[2:])
    return visited
