import microtape as mt


class Quick(mt.autograd.Function):
    """Multiplies matrices in half precision, for speed."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x.half())
        return (x.half() @ w.half()).float()

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return None, x.t() @ grad.half()


mt.manual_seed(3)
x, target = mt.randn(8, 4), mt.randn(8, 2)
w = (0.1 * mt.randn(4, 2)).requires_grad_()

for step in range(3):
    loss = (Quick.apply(x, w) - target).square().mean()
    loss.backward()
    with mt.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
