"""You return the gradients in a different order than the arguments. The first belongs to `input`,
the second to `weight`, the third to `bias`.
"""

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
        return grad_weight, grad_input, grad_bias
