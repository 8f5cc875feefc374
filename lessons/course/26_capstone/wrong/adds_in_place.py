"""You add with `+=` into an array that belongs to another number too: `add` sends one and the same
array to both operands. `a = a + b` makes a new array.
"""


class Tape:
    def backward(self, last, weights=None):
        if weights is None and np.size(self.values[last]) != 1:
            raise ValueError("several numbers need weights")
        gradients = {last: 1.0 if weights is None else weights}
        if writer is not None:
            writer.begin(last, gradients[last])
        for result, operation, *operands in order(self.rows, last):
            gradient = gradients[result]
            if writer is not None:
                writer.run(result, gradient)
            numbers = [self.values[name] for name in operands]
            for name, term in zip(operands, send(operation, gradient, self.values[result], *numbers)):
                term = unbroadcast(term, np.shape(self.values[name]))
                if name in gradients:
                    gradients[name] += term
                else:
                    gradients[name] = term
                if writer is not None:
                    writer.deliver(name, term, gradients[name])
        return gradients
