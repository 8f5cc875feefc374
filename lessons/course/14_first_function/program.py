import microtape as mt


class Cube(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, grad_z):
        (x,) = ctx.saved_tensors
        slope = 3 * x * x
        return grad_z * slope


x = mt.tensor(3.0, requires_grad=True)

cube = Cube.apply(x)
half = cube * 0.5

half.backward()

print("half   =", half.item())
print("x.grad =", x.grad.item())
