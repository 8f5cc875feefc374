"""The sum of result · grad_output has grad_output as its gradient with respect to the result, so
backward from that single number does the same. It costs one more product and one more sum.
"""

import microtape as mt


class Checkpoint(mt.autograd.Function):
    @staticmethod
    def forward(ctx, function, x):
        ctx.run = function
        ctx.save_for_backward(x)
        return ctx.run(x)

    @staticmethod
    def backward(ctx, grad_output):
        start = ctx.saved_tensors[0].clone().requires_grad_(True)
        with mt.enable_grad():
            number = (ctx.run(start) * grad_output).sum()
        number.backward()
        return (None, start.grad)
