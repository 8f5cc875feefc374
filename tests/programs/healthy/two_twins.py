import microtape as mt


class Stop(mt.autograd.Function):
    """Stops the gradient of one twin."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return None


mt.manual_seed(0)
weight = mt.randn(4, 3, requires_grad=True)
head = mt.randn(3, 3, requires_grad=True)
one, other = mt.randn(5, 4), mt.randn(5, 4)
guess = (one @ weight).tanh() @ head
loss = (guess - Stop.apply((other @ weight).tanh())).square().mean()
loss.backward()
print(weight.grad.norm(), head.grad.norm())
