import microtape as mt


class SoftStep(mt.autograd.Function):
    """A logistic step of adjustable steepness."""

    @staticmethod
    def forward(ctx, x, steepness):
        z = 1 / (1 + (-steepness * x).exp())
        ctx.save_for_backward(z)
        ctx.steepness = steepness
        return z

    @staticmethod
    def backward(ctx, grad_z):
        (z,) = ctx.saved_tensors
        return ctx.steepness * grad_z * (1 - z), None


dose = mt.tensor([0.1, 0.5, 1.0, 2.0])
response = mt.tensor([0.1, 0.2, 0.7, 0.95])
threshold = mt.tensor(0.5, requires_grad=True)

for epoch in range(10):
    loss = ((SoftStep.apply(dose - threshold, 3.0) - response) ** 2).sum()
    loss.backward()
    with mt.no_grad():
        threshold -= 0.2 * threshold.grad
    threshold.grad = None
print(f"threshold {threshold.item():.3f}")
