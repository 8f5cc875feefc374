"""Your `send` writes into an array that it was given. The tape still needs these numbers: return new
arrays.
"""


class Tape:
    def matmul(self, result, x, y):
        self.values[result] = self.values[x] @ self.values[y]
        self.rows.append((result, "matmul", x, y))


def send(operation, gradient, z, *operands):
    """The gradients for the operands of a row with the result z."""
    if operation == "add":
        return [gradient, gradient]
    if operation == "mul":
        x, y = operands
        return [gradient * y, gradient * x]
    if operation == "square":
        (x,) = operands
        return [gradient * 2 * x]
    if operation == "exp":
        return [gradient * z]
    if operation == "sum":
        (x,) = operands
        return [gradient * np.ones_like(x)]
    if operation == "matmul":
        x, y = operands
        for_y = np.swapaxes(x, -1, -2) @ gradient
        return [np.matmul(gradient, y.T, out=x), for_y]
