"""As the engine does it: count how many rows will send a gradient to each row, and take a row when
none is left.
"""


def order(rows, last):
    place = {row[0]: number for number, row in enumerate(rows)}
    waits, stack = {last: 0} if last in place else {}, [last]
    while stack:
        name = stack.pop()
        for operand in rows[place[name]][2:] if name in place else ():
            if operand in place:
                if operand not in waits:
                    waits[operand] = 0
                    stack.append(operand)
                waits[operand] += 1
    ready, visited = [name for name in waits if name == last], []
    while ready:
        ready.sort(key=place.get)
        row = rows[place[ready.pop()]]
        visited.append(row)
        for operand in row[2:]:
            if operand in place:
                waits[operand] -= 1
                if waits[operand] == 0:
                    ready.append(operand)
    return visited
