import math

import microtape as mt
import microtape.nn.functional as F

mt.manual_seed(0)

t = mt.linspace(0.2, 1.0, 20)
angle = 2 * math.pi * t
arm = mt.stack([t * angle.cos(), t * angle.sin()], 1)
points = mt.cat([arm, -arm])
labels = mt.cat([mt.zeros(20), mt.ones(20)]).long()

w1 = (mt.randn(2, 8) / math.sqrt(2)).requires_grad_()
w2 = (mt.randn(8, 8) / math.sqrt(8)).requires_grad_()
w3 = (mt.randn(8, 8) / math.sqrt(8)).requires_grad_()
w4 = (mt.randn(8, 8) / math.sqrt(8)).requires_grad_()
w5 = (mt.randn(8, 2) / math.sqrt(8)).requires_grad_()

h1 = mt.sigmoid(points @ w1)
h2 = mt.sigmoid(h1 @ w2)
h3 = mt.sigmoid(h2 @ w3)
h4 = mt.sigmoid(h3 @ w4)
scores = h4 @ w5
loss = F.cross_entropy(scores, labels)

loss.backward()

for w in (w1, w2, w3, w4, w5):
    print(f"{w.grad.abs().mean().item():.0e}")
