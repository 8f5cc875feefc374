import microtape as mt


class WeightedMean(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x, weights):
        total = weights.sum()
        ctx.save_for_backward(x, weights)
        return (x * weights).sum() / total

    @staticmethod
    def backward(ctx, grad_mean):
        x, weights, total = ctx.saved_tensors
        mean = (x * weights).sum() / total
        return grad_mean * weights / total, grad_mean * (x - mean) / total


grades = mt.tensor([2.0, 3.0, 1.0])
trust = mt.tensor([1.0, 0.5, 2.0], requires_grad=True)
loss = (WeightedMean.apply(grades, trust) - 1.8) ** 2
loss.backward()
with mt.no_grad():
    trust -= 0.1 * trust.grad
print(trust)
