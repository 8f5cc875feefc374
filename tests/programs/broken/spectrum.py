import microtape as mt

import numpy as np

kernel = np.array([0.25, 0.5, 0.25], dtype=np.float32)
channels = mt.linspace(0.0, 1.0, 8)
seen = mt.tensor([0.0, 0.1, 0.3, 0.8, 0.9, 0.4, 0.1, 0.0])
centre = mt.tensor(0.4, requires_grad=True)
height = mt.tensor(1.0, requires_grad=True)

for epoch in range(5):
    response = (-((channels - centre) ** 2) / 0.02).exp()
    smooth = np.convolve(response.detach().numpy(), kernel, mode="same")
    loss = ((height * mt.from_numpy(smooth) - seen) ** 2).sum()
    loss.backward()
    for p in (centre, height):
        p.data -= 0.05 * p.grad
        p.grad = None
