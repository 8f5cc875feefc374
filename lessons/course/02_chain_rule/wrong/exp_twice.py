"""The derivative of eˣ is eˣ, which is the result z. You raise e to the power of z once more."""


def send(operation, gradient, z, *operands):
    if operation == "add":
        return [gradient, gradient]
    if operation == "mul":
        x, y = operands
        return [gradient * y, gradient * x]
    (x,) = operands
    if operation == "square":
        return [gradient * 2 * x]
    return [gradient * np.exp(z)]
