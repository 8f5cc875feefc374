import microtape as mt


class Quantize(mt.autograd.Function):
    @staticmethod
    def forward(ctx, x, levels):
        ctx.scale = 1.0
        return (x * levels).round() / levels

    @staticmethod
    def backward(ctx, grad_output):
        grad_x = grad_output * ctx.scale
        return None, None


image = mt.tensor([0.12, 0.48, 0.77])
gain = mt.tensor(1.3, requires_grad=True)
offset = mt.tensor(0.0, requires_grad=True)
for epoch in range(3):
    shown = Quantize.apply(image * gain, 8.0)
    loss = ((shown + offset - image) ** 2).mean()
    loss.backward()
    with mt.no_grad():
        offset -= 0.1 * offset.grad
        gain -= 0.1 * gain.grad
    gain.grad = offset.grad = None
