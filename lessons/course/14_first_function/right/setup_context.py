"""`forward` is the plain computation; `setup_context` keeps what backward needs."""

import microtape as mt


class Linear(mt.autograd.Function):
    @staticmethod
    def forward(input, weight, bias):
        output = input @ weight.t()
        return output if bias is None else output + bias

    @staticmethod
    def setup_context(ctx, inputs, output):
        input, weight, _ = inputs
        ctx.save_for_backward(input, weight)

    @staticmethod
    def backward(ctx, grad_output):
        input, weight = ctx.saved_tensors
        needs_input, needs_weight, needs_bias = ctx.needs_input_grad
        return (
            grad_output @ weight if needs_input else None,
            grad_output.t() @ input if needs_weight else None,
            grad_output.sum(0) if needs_bias else None,
        )
