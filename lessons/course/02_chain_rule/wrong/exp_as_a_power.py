"""x·eˣ⁻¹ is how one would derive a power of x. In eˣ, x is the exponent: its derivative is eˣ, which is the
result z.
"""


def send(operation, gradient, z, *operands):
    if operation == "add":
        return [gradient, gradient]
    if operation == "mul":
        x, y = operands
        return [gradient * y, gradient * x]
    (x,) = operands
    if operation == "square":
        return [gradient * 2 * x]
    return [gradient * x * np.exp(x - 1)]
