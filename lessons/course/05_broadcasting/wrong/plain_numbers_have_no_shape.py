"""A plain number such as 0.5 has no `.shape`. `np.shape(...)` gives it for arrays and for plain numbers."""


class Tape:
    def backward(self, last):
        gradients = {last: 1.0}
        for result, operation, *operands in order(self.rows, last):
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                shape = self.values[name].shape
                term = unbroadcast(term, shape)
                gradients[name] = gradients.get(name, 0.0) + term
        return gradients
