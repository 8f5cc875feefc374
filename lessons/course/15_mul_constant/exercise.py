# Arguments that are not tensors.
#
#     x = mt.tensor([1.0, 2.0, 3.0], requires_grad=True)
#
#     Power.apply(3, x)    [1., 8., 27.]    derivative n · xⁿ⁻¹
#     Pick.apply(x, 2)     3.               derivative 1 at the
#                                           index, 0 elsewhere
#
# Note that `n` comes first in Power. In Pick, x may also be a
# table: then Pick.apply(x, 1) is its second row. Pick does not need
# to keep any tensor: put nothing on ctx that backward does not
# need.
#
# Useful: `mt.zeros(shape)`.
#
# Complete all four methods.

import microtape as mt


class Power(mt.autograd.Function):
    @staticmethod
    def forward(ctx, n, x):
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_z):
        raise NotImplementedError


class Pick(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x, index):
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_z):
        raise NotImplementedError


if __name__ == "__main__":
    x = mt.tensor([1.0, 2.0, 3.0], requires_grad=True)
    Power.apply(3, x).sum().backward()
    print(x.grad)

    x.grad = None
    (Pick.apply(x, 2) * 10).backward()
    print(x.grad)
