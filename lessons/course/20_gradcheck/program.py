import microtape as mt


class Cube(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad_z):
        (x,) = ctx.saved_tensors
        return grad_z * 2 * x**2


x = mt.tensor(2.0, requires_grad=True)

cube = Cube.apply(x)
loss = cube * 10

loss.backward()

print("x.grad =", x.grad.item())
print("pushed =", round((2.01**3 - 1.99**3) / 0.02 * 10, 2))
