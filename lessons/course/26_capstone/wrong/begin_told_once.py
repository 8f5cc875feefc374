"""You tell the writer once that backward begins. Each call of backward begins a pass."""

has_begun = []


class Tape:
    def backward(self, last, weights=None):
        if weights is None and np.size(self.values[last]) != 1:
            raise ValueError("several numbers need weights")
        gradients = {last: 1.0 if weights is None else weights}
        if writer is not None and not has_begun:
            writer.begin(last, gradients[last])
            has_begun.append(last)
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
