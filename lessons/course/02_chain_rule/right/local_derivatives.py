"""A function of its own gives the local derivatives, and `send` multiplies each by the gradient."""


class Tape:
    def backward(self, last):
        gradients = {}
        gradients[last] = 1
        for row in self.rows[::-1]:
            z, x = row[0], row[2]
            if len(row) == 3:
                (gradients[x],) = send(row[1], gradients[z], self.values[z], self.values[x])
            else:
                y = row[3]
                gradients[x], gradients[y] = send(row[1], gradients[z], self.values[z], self.values[x], self.values[y])
        return gradients


def derivatives(operation, z, x, y=None):
    match operation:
        case "add":
            return [1.0, 1.0]
        case "mul":
            return [y, x]
        case "square":
            return [2 * x]
        case "exp":
            return [z]


def send(operation, gradient, z, *operands):
    return [gradient * own for own in derivatives(operation, z, *operands)]
