import microtape as mt


class Affine(mt.autograd.Function):
    """Computes only the gradients that are needed."""

    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        return x @ weight + bias

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        grad_x = grad @ weight.t() if ctx.needs_input_grad[0] else None
        grad_weight = x.t() @ grad if ctx.needs_input_grad[1] else None
        return grad_x, grad_weight, grad.sum(dim=0)


mt.manual_seed(0)
x = mt.randn(5, 3)
weight, bias = mt.randn(3, 2, requires_grad=True), mt.zeros(2, requires_grad=True)
loss = Affine.apply(x, weight, bias).square().mean()
loss.backward()
print(weight.grad, bias.grad)
