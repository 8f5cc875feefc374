"""A stack of matrices times one matrix is the same as one tall matrix times it, so the product sums
over the stack too.
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
        tall = x.reshape(-1, x.shape[-1])
        arrived = gradient.reshape(-1, gradient.shape[-1])
        return [(arrived @ y.T).reshape(x.shape), tall.T @ arrived]
