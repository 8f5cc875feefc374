import microtape as mt


class SoftThreshold(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x, limit):
        ctx.save_for_backward(x)
        return x.sign() * (x.abs() - limit).relu()

    @staticmethod
    def backward(ctx, grad_z):
        (x,) = ctx.saved_tensors
        return grad_z * (x.abs() > ctx.limit).float(), None


signal = mt.tensor([0.9, -0.1, 0.4, -1.2])
clean = mt.tensor([0.7, 0.0, 0.2, -1.0])
gain = mt.tensor(1.0, requires_grad=True)

for epoch in range(3):
    loss = ((SoftThreshold.apply(gain * signal, 0.2) - clean) ** 2).sum()
    loss.backward()
    with mt.no_grad():
        gain -= 0.1 * gain.grad
    gain.grad = None
