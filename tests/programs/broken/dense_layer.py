import microtape as mt


class Dense(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight)
        return x @ weight.t() + bias

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        grad_x = grad_output @ weight
        grad_weight = x.t() @ grad_output
        grad_bias = grad_output.sum(0)
        return grad_x, grad_weight, grad_bias


x = mt.linspace(-1.0, 1.0, 8).reshape(4, 2)
weight = mt.tensor([[0.1, 0.4], [0.3, -0.2], [0.0, 0.5]], requires_grad=True)
bias = mt.zeros(3, requires_grad=True)

loss = Dense.apply(x, weight, bias).tanh().square().sum()
loss.backward()
