import microtape as mt


class Binary(mt.autograd.Function):
    """The sign of x; its gradient passes straight through where x is within [-1, 1]."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (x.abs() <= 1).float()


x = mt.tensor([[0.3, 0.6, -0.2], [0.9, -0.4, 0.5], [-0.5, 0.2, 0.8]])
y = mt.tensor([0.1, 1.7, -0.1])
w = mt.tensor([0.2, -0.3, 0.4], requires_grad=True)
scale = mt.tensor(1.0, requires_grad=True)
for epoch in range(10):
    loss = ((scale * (x @ Binary.apply(w)) - y) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        w -= 0.05 * w.grad
        scale -= 0.05 * scale.grad
    w.grad = scale.grad = None
print(w.sign().tolist(), round(scale.item(), 3))
