"""Your backward begins with the value of the result. The gradient of a result with respect to itself
is 1.
"""


class Tape:
    def backward(self, last, weights=None):
        if weights is None and np.size(self.values[last]) != 1:
            raise ValueError("several numbers need weights")
        gradients = {last: self.values[last] if weights is None else weights}
        if writer is not None:
            writer.begin(last, gradients[last])
        for result, operation, *operands in order(self.rows, last):
            gradient = gradients[result]
            if writer is not None:
                writer.run(result, gradient)
            numbers = [self.values[name] for name in operands]
            for name, term in zip(operands, send(operation, gradient, self.values[result], *numbers)):
                term = unbroadcast(term, np.shape(self.values[name]))
                gradients[name] = gradients.get(name, 0.0) + term
                if writer is not None:
                    writer.deliver(name, term, gradients[name])
        return gradients
