import microtape as mt


class Filter(mt.autograd.Function):
    @staticmethod
    def forward(ctx, signal, taps):
        windows = mt.stack([signal[i : i + len(signal) - 2] for i in range(3)])
        ctx.save_for_backward(windows, taps)
        return taps @ windows

    @staticmethod
    def backward(ctx, grad):
        windows, taps = ctx.saved_tensors
        grad_signal = mt.zeros(windows.shape[1] + 2)
        for i in range(3):
            grad_signal[i : i + len(grad)] += taps[i] * grad
        return grad_signal, windows @ grad


signal = mt.linspace(0.0, 6.0, 20).sin()
taps = mt.tensor([0.2, 0.5, 0.1], requires_grad=True)
loss = (Filter.apply(signal, taps) - signal[1:-1]).square().sum()
loss.backward()
print(taps.grad)
