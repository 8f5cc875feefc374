"""With a stack, you sum the matrices and the gradients, and then multiply. Multiply each matrix with its
own gradient first, and sum these products.
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
        if x.ndim == 3:
            return [gradient @ y.T, x.sum(axis=0).T @ gradient.sum(axis=0)]
        return [gradient @ y.T, x.T @ gradient]
