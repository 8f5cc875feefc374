import microtape as mt


class Cube(mt.autograd.Function):
    @staticmethod
    def forward(ctx, side):
        ctx.save_for_backward(side)
        return side**3

    @staticmethod
    def backward(ctx, grad_output):
        (side,) = ctx.saved_tensors
        return 3.0 * side**2


sides = mt.tensor([1.0, 2.0, 0.5])
weights = mt.tensor([1.9, 14.8, 0.3])
scale = mt.tensor(0.7, requires_grad=True)
density = mt.tensor(1.0, requires_grad=True)

for epoch in range(5):
    guess = density * Cube.apply(scale * sides)
    loss = (guess - weights).square().mean()
    loss.backward()
    with mt.no_grad():
        scale -= 0.002 * scale.grad
        density -= 0.002 * density.grad
    scale.grad = density.grad = None
    print(f"{epoch}: {loss.item():.3f}")
