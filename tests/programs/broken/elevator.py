import microtape as mt
import numpy as np

rng = np.random.default_rng(1)
W = mt.tensor(rng.normal(0, 0.1, (5, 4)), requires_grad=True)
floors, after = mt.tensor(rng.normal(size=(20, 5))), mt.tensor(rng.normal(size=(20, 5)))
buttons, waited = mt.tensor(rng.integers(0, 4, 20)), mt.tensor(rng.random(20))
for step in range(4):
    pressed = (floors @ W)[mt.arange(20), buttons]
    wanted = 0.95 * (after @ W).amax(1) - waited
    error = wanted - pressed
    loss = (error * error).mean()
    loss.backward()
    with mt.no_grad():
        W -= 0.1 * W.grad
        W.grad = None
