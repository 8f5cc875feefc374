"""Your loops overwrite what they have computed. A number of `a` or b is used several times, and each use
adds a product: `+=`.
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
        for_x, for_y = np.zeros(x.shape), np.zeros(y.shape)
        for *s, i in np.ndindex(x.shape[:-1]):
            for k in range(y.shape[0]):
                for j in range(y.shape[1]):
                    for_x[(*s, i, k)] = gradient[(*s, i, j)] * y[k, j]
                    for_y[k, j] = x[(*s, i, k)] * gradient[(*s, i, j)]
        return [for_x, for_y]
