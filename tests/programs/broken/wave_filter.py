import microtape as mt

import numpy as np


class Filter(mt.autograd.Function):
    @staticmethod
    def forward(ctx, wave, taps):
        ctx.taps = taps
        return mt.from_numpy(np.convolve(wave.detach().numpy(), taps, mode="same"))

    @staticmethod
    def backward(ctx, grad_output):
        return np.correlate(grad_output.numpy(), ctx.taps, mode="same"), None


taps = np.array([0.25, 0.5, 0.25], dtype=np.float32)
wave = mt.zeros(6, requires_grad=True)
heard = mt.tensor([0.0, 0.2, 0.7, 0.9, 0.4, 0.1])

for step in range(5):
    loss = ((Filter.apply(wave, taps) - heard) ** 2).sum()
    loss.backward()
    with mt.no_grad():
        wave -= 0.5 * wave.grad
    wave.grad = None
