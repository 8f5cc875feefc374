"""The entries of the dict begin at 0, so it does not matter whether anything has arrived before."""

from collections import defaultdict


def backward(rows, values):
    gradients = defaultdict(float)
    gradients[rows[-1][0]] = 1.0
    for result, operation, x, y in reversed(rows):
        if result not in gradients:
            continue
        arrived = gradients[result]
        gradients[x] += arrived * values[y] if operation == "mul" else arrived
        gradients[y] += arrived * values[x] if operation == "mul" else arrived
    return dict(gradients)
