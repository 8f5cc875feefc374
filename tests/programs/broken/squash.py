import microtape as mt


class Squash(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.tanh()

    @staticmethod
    def backward(ctx, grad_z):
        (x,) = ctx.saved_tensors
        return grad_z * (1 - x * x)


x = mt.tensor([[0.5, -0.8], [1.0, 0.4], [-0.3, 0.9]])
y = mt.tensor([[0.3], [0.8], [-0.1]])
W = mt.tensor([[1.1, -0.6], [0.7, 0.9]], requires_grad=True)
v = mt.tensor([[0.5], [0.4]], requires_grad=True)
for epoch in range(8):
    loss = ((Squash.apply(x @ W) @ v - y) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (W, v):
            p -= 0.3 * p.grad
            p.grad = None
print(loss.item())
