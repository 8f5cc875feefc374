import microtape as mt


class Focus(mt.autograd.Function):
    @staticmethod
    def forward(ctx, rays):
        return rays * strength

    @staticmethod
    def backward(ctx, grad):
        return grad * strength


mt.manual_seed(0)
strength = mt.tensor([0.5, 2.0, 1.5], requires_grad=True)
tilt = mt.zeros(3, requires_grad=True)
rays, screen = mt.rand(20, 3), mt.rand(20, 3)

for shot in range(3):
    spot = Focus.apply(rays + tilt)
    loss = (spot - screen).square().mean()
    loss.backward()
    with mt.no_grad():
        tilt -= 0.1 * tilt.grad
        tilt.grad = None
