import microtape as mt


class Bell(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x, mean):
        z = (-((x - mean) ** 2) / 2).exp()
        ctx.save_for_backward(x, mean, z)
        return z

    @staticmethod
    def backward(ctx, grad_z):
        x, mean, z = ctx.saved_tensors
        return -grad_z * z * (x - mean), grad_z * z * (x - mean) / 2


place = mt.tensor([0.0, 0.5, 1.0, 2.0])
light = mt.tensor([0.6, 0.9, 1.0, 0.6])
mean = mt.tensor([0.3, 0.3, 0.3, 0.3], requires_grad=True)
height = mt.tensor(1.0, requires_grad=True)

for epoch in range(10):
    loss = (height * Bell.apply(place, mean) - light).square().sum()
    loss.backward()
    with mt.no_grad():
        mean -= 0.1 * mean.grad
        height -= 0.1 * height.grad
        mean.grad = height.grad = None
print(mean, height)
