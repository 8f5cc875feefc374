"""You put the names together in one string, and a shorter name is found inside a longer one. Keep them apart
in a set: `needed = {last}`.
"""


def order(rows, last):
    visited = []
    needed = last
    for row in reversed(rows):
        if row[0] in needed:
            visited.append(row)
            needed += " ".join(row[2:])
    return visited
