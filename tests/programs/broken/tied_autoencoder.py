import microtape as mt


class Encode(mt.autograd.Function):
    """The weights are shared with the decoder, so only the gradient for x is passed on."""

    @staticmethod
    def forward(ctx, x, weight):
        h = (x @ weight).tanh()
        ctx.save_for_backward(weight, h)
        return h

    @staticmethod
    def backward(ctx, grad_h):
        weight, h = ctx.saved_tensors
        return (grad_h * (1 - h * h)) @ weight.t(), None


mt.manual_seed(1)
spectra = mt.randn(6, 4)
weight = (0.5 * mt.randn(4, 2)).requires_grad_()
offset = mt.zeros(4, requires_grad=True)

for epoch in range(4):
    code = Encode.apply(spectra - offset, weight)
    loss = (code @ weight.t() + offset - spectra).square().mean()
    loss.backward()
    with mt.no_grad():
        for p in (weight, offset):
            p -= 0.1 * p.grad
            p.grad = None
    print(epoch, round(loss.item(), 4))
