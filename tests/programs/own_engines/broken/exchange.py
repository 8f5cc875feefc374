import numpy as np

from microtape.recording import RecordingWriter

writer = RecordingWriter("bank")
values, rows, grads = {}, [], {}


def leaf(name, value):
    values[name] = np.asarray(value, float)
    writer.leaf(name, values[name])


def row(name, operation, *operands):
    x, y = (*[values[one] for one in operands], None)[:2]
    values[name] = {"add": lambda: x + y, "mul": lambda: x * y, "matmul": lambda: x @ y, "sum": lambda: x.sum()}[
        operation
    ]()
    rows.append((name, operation, operands))
    writer.operation(name, operation, operands, values[name])


def rule(operation, g, x, y=None):
    if operation == "add":
        return g, g
    if operation == "mul":
        return g * y, g * x
    if operation == "matmul":
        return g @ y.T, g.T @ x
    return (g * np.ones_like(x),)


def fit(g, shape):
    while g.ndim > len(shape):
        g = g.sum(axis=0)
    for axis, size in enumerate(shape):
        g = g.sum(axis=axis, keepdims=True) if size == 1 else g
    return g


def backward(last):
    sums = {last: np.ones_like(values[last])}
    writer.begin(last, sums[last])
    for name, operation, operands in reversed(rows):
        writer.run(name, sums[name])
        for one, term in zip(operands, rule(operation, sums[name], *[values[one] for one in operands])):
            term = fit(term, values[one].shape)
            sums[one] = sums.get(one, 0) + term
            writer.deliver(one, term, sums[one])
    for name in sums:
        if name not in [made for made, _, _ in rows]:
            grads[name] = grads.get(name, 0) + sums[name]
            writer.keep(name, grads[name])


leaf("money", [[10, 20]])
leaf("rates", [[1, 2, 3], [4, 5, 6]])
row("worth", "matmul", "money", "rates")
row("fortune", "sum", "worth")
backward("fortune")
