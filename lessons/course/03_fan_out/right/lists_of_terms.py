"""Arriving gradients are kept in a list for each name, and each list is added up when its turn
comes.
"""


def backward(rows, values):
    terms = {rows[-1][0]: [1.0]}
    for result, operation, *operands in rows[::-1]:
        if result in terms:
            total = sum(terms[result])
            for operand, other in (operands, operands[::-1]):
                slope = values[other] if operation == "mul" else 1.0
                terms.setdefault(operand, []).append(total * slope)
    return {name: sum(arrived) for name, arrived in terms.items()}
