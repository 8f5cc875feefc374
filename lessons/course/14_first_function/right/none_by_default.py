"""The gradients go into a list that begins as three times None."""

import microtape as mt


class Linear(mt.autograd.Function):
    @staticmethod
    def forward(ctx, input, weight, bias):
        ctx.save_for_backward(weight, input)
        output = (weight @ input.t()).t()
        if bias is not None:
            output = bias + output
        return output

    @staticmethod
    def backward(ctx, grad_output):
        weight, input = ctx.saved_tensors
        gradients = [None, None, None]
        for_input, for_weight, for_bias = ctx.needs_input_grad
        if for_input:
            gradients[0] = (weight.t() @ grad_output.t()).t()
        if for_weight:
            gradients[1] = (input.t() @ grad_output).t()
        if for_bias:
            gradients[2] = grad_output.t().sum(1)
        return tuple(gradients)
