import microtape as mt

# An operation of your own: the linear layer, with or without a bias.
#
# Its forward saves what its backward will need. Its backward receives the
# gradient of the output and returns one gradient for each argument of
# forward, in the same order, or None if an argument needs no gradient.
# `needs_input_grad` tells which arguments need one, so that backward can
# skip needless work.
#
# Look at: what Linear saved, and its three gradients. The input does not
# require a gradient, so the first is None.


class Linear(mt.autograd.Function):
    """output = input · weightᵀ + bias."""

    @staticmethod
    def forward(ctx, input, weight, bias=None):
        ctx.save_for_backward(input, weight)
        output = input @ weight.t()
        return output if bias is None else output + bias

    @staticmethod
    def backward(ctx, grad_output):
        input, weight = ctx.saved_tensors
        grad_input = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output @ weight
        if ctx.needs_input_grad[1]:
            grad_weight = grad_output.t() @ input
        if len(ctx.needs_input_grad) > 2 and ctx.needs_input_grad[2]:
            grad_bias = grad_output.sum(0)
        return grad_input, grad_weight, grad_bias


input = mt.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
weight = mt.tensor([[0.5, -1.0], [2.0, 0.0]], requires_grad=True)
bias = mt.tensor([0.1, -0.1], requires_grad=True)

output = Linear.apply(input, weight, bias)
loss = (output * output).mean()

loss.backward()

print("bias.grad =", [round(number, 4) for number in bias.grad.tolist()])
