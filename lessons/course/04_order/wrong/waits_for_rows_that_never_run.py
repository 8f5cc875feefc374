"""Your rows wait for every row that uses their result. Some of those never run, because `last` does not
depend on them: count only the ones that run.
"""


def order(rows, last):
    place_of = {row[0]: place for place, row in enumerate(rows)}
    waits = dict.fromkeys(place_of, 0)
    for row in rows:
        for name in row[2:]:
            if name in waits:
                waits[name] += 1
    visited = []
    ready = [place_of[last]]
    while ready:
        ready.sort()
        row = rows[ready.pop()]
        visited.append(row)
        for name in row[2:]:
            if name in waits:
                waits[name] -= 1
                if waits[name] == 0:
                    ready.append(place_of[name])
    return visited
