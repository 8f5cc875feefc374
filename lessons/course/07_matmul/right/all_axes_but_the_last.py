"""tensordot sums over the axes that it is given: the rows and the stack at once."""


class Tape:
    def matmul(self, result, x, y):
        self.values[result] = np.matmul(self.values[x], self.values[y])
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
        axes = list(range(x.ndim - 1))
        return [np.tensordot(gradient, y, axes=(-1, 1)), np.tensordot(x, gradient, axes=(axes, axes))]
