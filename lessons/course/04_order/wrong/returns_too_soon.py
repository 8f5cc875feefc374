"""Your `return` stands inside the loop, so `order` ends after the last row of the tape. Indent it as far as
`for`.
"""


def order(rows, last):
    visited = []
    needed = {last}
    for row in reversed(rows):
        if row[0] in needed:
            visited.append(row)
            needed.update(row[2:])
        return visited
