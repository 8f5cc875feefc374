import microtape as mt


class Scale(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x, scale)
        return x * scale

    @staticmethod
    def backward(ctx, grad_output):
        x, scale = ctx.saved_tensors
        grad_scale = (grad_output * x).sum(1)
        return grad_output * scale, grad_scale


batch = mt.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
weight = mt.tensor([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]], requires_grad=True)
scale = mt.ones(3, requires_grad=True)

scaled = Scale.apply(batch, scale)
loss = (scaled @ weight).tanh().sum()
loss.backward()
for p in (weight, scale):
    p.data -= 0.1 * p.grad
