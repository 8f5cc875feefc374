import microtape as mt


class Calibrated(mt.autograd.Function):
    @staticmethod
    def forward(ctx, readings, gain):
        ctx.save_for_backward(readings)
        return (readings @ gain).flatten()

    @staticmethod
    def backward(ctx, grad):
        (readings,) = ctx.saved_tensors
        return None, readings.t() * grad


readings = mt.tensor([[0.2, 0.4], [0.5, 0.1], [0.9, 0.7]])
gain = mt.tensor([[1.0], [0.8]], requires_grad=True)
truth = mt.tensor([0.5, 0.6, 1.5])

for day in range(10):
    loss = (Calibrated.apply(readings, gain) - truth).square().mean()
    loss.backward()
    with mt.no_grad():
        gain -= 0.1 * gain.grad
    gain.grad = None
print(loss.item())
