"""The bias is saved together with the other two, and each gradient is one expression."""

import microtape as mt


class Linear(mt.autograd.Function):
    @staticmethod
    def forward(ctx, input, weight, bias):
        ctx.save_for_backward(input, weight, bias)
        product = input.matmul(weight.T)
        return product if bias is None else product.add(bias)

    @staticmethod
    def backward(ctx, grad_output):
        input, weight, bias = ctx.saved_tensors
        needed = ctx.needs_input_grad
        return (
            grad_output.matmul(weight) if needed[0] else None,
            grad_output.T.matmul(input) if needed[1] else None,
            grad_output.sum(dim=0) if needed[2] and bias is not None else None,
        )
