# The linear layer: one way to write it.
#
# Three gradients in the order of forward's arguments, each computed only if
# it is needed.

import microtape as mt


class Linear(mt.autograd.Function):
    @staticmethod
    def forward(ctx, input, weight, bias):
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
        if ctx.needs_input_grad[2]:
            grad_bias = grad_output.sum(0)
        return grad_input, grad_weight, grad_bias


if __name__ == "__main__":
    input = mt.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    weight = mt.tensor([[1.0, -1.0]], requires_grad=True)
    bias = mt.tensor([0.5], requires_grad=True)
    output = Linear.apply(input, weight, bias)
    print(output)
    output.sum().backward()
    print(weight.grad, bias.grad)
