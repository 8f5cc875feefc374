# The linear layer as a Function of your own.
#
#     output = input · weightᵀ + bias
#
#     grad_input  = grad_output · weight
#     grad_weight = grad_outputᵀ · input
#     grad_bias   = grad_output, summed over its rows
#
# `bias` may be None: then nothing is added, and its gradient is
# None. Return None as well for an argument that needs no gradient:
# `ctx.needs_input_grad` has three entries, for input, weight and
# bias.
#
# Useful: `a @ b` is the matrix product, `a.t()` the transposed
# matrix, `a.sum(0)` the sum over the rows.
#
# Complete both methods.

import microtape as mt


class Linear(mt.autograd.Function):
    @staticmethod
    def forward(ctx, input, weight, bias):
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output):
        raise NotImplementedError


if __name__ == "__main__":
    input = mt.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    weight = mt.tensor([[1.0, -1.0]], requires_grad=True)
    bias = mt.tensor([0.5], requires_grad=True)
    output = Linear.apply(input, weight, bias)
    print(output)
    output.sum().backward()
    print(weight.grad, bias.grad)
