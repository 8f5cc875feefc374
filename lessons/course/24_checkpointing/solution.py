# A checkpoint: one way to write it.
#
# Nothing is recorded inside forward, so nothing is kept there. backward makes
# the graph, goes through it at once, and throws it away.

import microtape as mt


class Checkpoint(mt.autograd.Function):
    @staticmethod
    def forward(ctx, function, x):
        ctx.function = function
        ctx.save_for_backward(x)
        return function(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        x = x.detach().requires_grad_()
        with mt.enable_grad():
            result = ctx.function(x)
        result.backward(grad_output)
        return None, x.grad


if __name__ == "__main__":
    weight = mt.tensor(2.0, requires_grad=True)
    x = mt.tensor([1.0, 2.0], requires_grad=True)

    def part(h):
        return (h * weight).tanh()

    Checkpoint.apply(part, x).sum().backward()
    print(x.grad, weight.grad)
