"""As the engine does it: count how many rows will send a gradient to each row, and take a row when
none is left.
"""


def order(rows, last):
    place = {result: number for number, (result, _) in enumerate(rows)}
    operands = dict(rows)
    waits, stack = {last: 0}, [last]
    while stack:
        for operand in operands[stack.pop()]:
            if operand in operands:
                if operand not in waits:
                    waits[operand] = 0
                    stack.append(operand)
                waits[operand] += 1
    ready, visited = [last], []
    while ready:
        ready.sort(key=place.get)
        result = ready.pop()
        visited.append(result)
        for operand in operands[result]:
            if operand in waits:
                waits[operand] -= 1
                if waits[operand] == 0:
                    ready.append(operand)
    return visited
