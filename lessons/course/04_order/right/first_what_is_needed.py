"""First find everything that `last` depends on, then take it in reverse order of the tape."""


def order(rows, last):
    operands = dict(rows)

    def needed(result):
        found = {result}
        for operand in operands.get(result, ()):
            found |= needed(operand)
        return found

    wanted = needed(last)
    return [result for result, _ in rows[::-1] if result in wanted]
