import microtape as mt


class Outer(mt.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a[:, None] * b[None, :]

    @staticmethod
    def backward(ctx, grad_z):
        a, b = ctx.saved_tensors
        grad_a = grad_z @ b
        grad_b = grad_z @ a
        return grad_a, grad_b


rows = mt.tensor([0.5, 1.0, 1.5], requires_grad=True)
columns = mt.tensor([2.0, 0.3], requires_grad=True)
table = mt.tensor([[1.0, 0.2], [2.1, 0.3], [2.9, 0.5]])

for epoch in range(3):
    loss = (Outer.apply(rows, columns) - table).square().sum()
    loss.backward()
    with mt.no_grad():
        rows -= 0.02 * rows.grad
        columns -= 0.02 * columns.grad
    rows.grad = columns.grad = None
