import microtape as mt


class Tide(mt.autograd.Function):
    @staticmethod
    def forward(ctx, hours):
        phase = hours * speed
        ctx.save_for_backward(phase)
        return phase.sin()

    @staticmethod
    def backward(ctx, grad):
        (phase,) = ctx.saved_tensors
        return grad * phase.cos() * speed


speed = mt.tensor(0.4, requires_grad=True)
range_ = mt.tensor(2.0, requires_grad=True)
hours = mt.arange(12.0)
heights = 3 * (0.5 * hours).sin()

for round in range(3):
    loss = (range_ * Tide.apply(hours) - heights).square().mean()
    loss.backward()
    with mt.no_grad():
        range_ -= 0.1 * range_.grad
        range_.grad = None
