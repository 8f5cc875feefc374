"""With a stack, you sum the gradient of `a` as well. Only b was used several times: each matrix of the
stack has a gradient of its own.
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
        for_x, for_y = gradient @ y.T, np.swapaxes(x, -1, -2) @ gradient
        if x.ndim == 3:
            for_x, for_y = for_x.sum(axis=0), for_y.sum(axis=0)
        return [for_x, for_y]
