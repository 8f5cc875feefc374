import microtape as mt


class Leaky(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return mt.where(x > 0, x, 0.1 * x)

    @staticmethod
    def backward(ctx, grad_z):
        (x,) = ctx.saved_tensors
        return grad_z * mt.where(x > 0, 1.0, -0.1)


x = mt.tensor([[0.4, -0.9], [-0.6, 0.3], [0.8, 0.7]])
y = mt.tensor([0.2, -0.1, 0.9])
W = mt.tensor([[0.7, -0.4], [0.5, 0.6]], requires_grad=True)
v = mt.tensor([0.8, -0.3], requires_grad=True)
for epoch in range(10):
    loss = ((Leaky.apply(x @ W) @ v - y) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        for p in (W, v):
            p -= 0.1 * p.grad
            p.grad = None
print(loss.item())
