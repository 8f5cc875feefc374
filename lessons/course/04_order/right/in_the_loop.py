"""A row at which no gradient has arrived is one that the result does not depend on. So both `order` and the
loop itself can go by that.
"""


def order(rows, last):
    reached, found = [last], []
    for row in rows[::-1]:
        if row[0] in reached:
            found += [row]
            reached += row[2:]
    return found


class Tape:
    def backward(self, last):
        gradients = {last: 1.0}
        for result, operation, *operands in self.rows[::-1]:
            if result not in gradients:
                continue
            numbers = [self.values[name] for name in operands]
            gradient, z = gradients[result], self.values[result]
            terms = send(operation, gradient, z, *numbers)
            for name, term in zip(operands, terms):
                gradients[name] = gradients.get(name, 0.0) + term
        return gradients
