"""You transpose only where the shapes force you to. With square matrices both orders fit, and only the
transposed one is right.
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
        right = y if y.shape[0] == y.shape[1] else y.T
        left = x if x.shape[-1] == x.shape[-2] else np.swapaxes(x, -1, -2)
        return [gradient @ right, left @ gradient]
