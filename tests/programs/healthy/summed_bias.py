import microtape as mt


class Shift(mt.autograd.Function):
    """Leaves it to autograd to sum the gradient of the broadcast bias."""

    @staticmethod
    def forward(ctx, x, bias):
        return x + bias

    @staticmethod
    def backward(ctx, grad):
        return grad, grad


mt.manual_seed(0)
x = mt.randn(4, 3, requires_grad=True)
bias = mt.zeros(3, requires_grad=True)
loss = Shift.apply(x, bias).tanh().square().sum()
loss.backward()
print(x.grad, bias.grad)
