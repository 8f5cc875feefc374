"""You always compute all three gradients. Check `ctx.needs_input_grad`, and return None for the
arguments that need no gradient: in the first layer of a network, that saves a third of the work.
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
        grad_bias = grad_output.sum(0) if ctx.needs_input_grad[2] else None
        return grad_output @ weight, grad_output.t() @ input, grad_bias
