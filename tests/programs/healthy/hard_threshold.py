import microtape as mt


class Above(mt.autograd.Function):
    """Keeps what is above a threshold; its value does not change with the threshold."""

    @staticmethod
    def forward(ctx, x, threshold):
        kept = x > threshold
        ctx.save_for_backward(kept)
        return x * kept

    @staticmethod
    def backward(ctx, grad):
        (kept,) = ctx.saved_tensors
        return grad * kept, None


x = mt.tensor([0.3, 1.2, -0.4, 2.0], requires_grad=True)
threshold = mt.tensor(0.5, requires_grad=True)
loss = Above.apply(x, threshold).square().sum() + (threshold - x.mean()) ** 2
loss.backward()
print(x.grad, threshold.grad)
