import microtape as mt


class Mix(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        return grad_output @ weight, grad_output @ x


x = mt.tensor([[1.0, 0.5, -0.2], [0.3, 0.8, 0.1], [-0.5, 0.2, 0.9]])
y = mt.eye(3)
first = mt.tensor([[0.4, 0.1, 0.0], [0.2, 0.5, -0.3], [0.1, 0.0, 0.6]], requires_grad=True)
second = mt.tensor([[0.3, -0.1, 0.2], [0.0, 0.7, 0.1], [0.2, 0.4, 0.5]], requires_grad=True)

for epoch in range(10):
    loss = ((Mix.apply(Mix.apply(x, first).tanh(), second) - y) ** 2).mean()
    loss.backward()
    for p in (first, second):
        p.data -= 0.3 * p.grad
        p.grad = None
print(loss.item())
