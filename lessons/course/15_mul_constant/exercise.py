# Arguments that are not tensors.
#
#     x = mt.tensor([1.0, 2.0, 3.0], requires_grad=True)
#
#     Power.apply(3, x)    [1., 8., 27.]    slope n · xⁿ⁻¹
#     Pick.apply(x, 2)     3.               slope 1 at the index,
#                                           0 everywhere else
#
# Mind that `n` comes first in Power. In Pick, x may also be a
# table: then Pick.apply(x, 1) is its second row. Pick has no need
# to keep any tensor: put nothing on ctx that it can do without.
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
