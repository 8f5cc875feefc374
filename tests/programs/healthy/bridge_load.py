import microtape as mt
from microtape import nn, optim

mt.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1))
optimizer = optim.SGD(model.parameters(), lr=0.1)
beams, load = mt.randn(12, 3), mt.randn(12, 1)
for _ in range(3):
    loss = nn.functional.mse_loss(model(beams), load)
    optimizer.zero_grad()
    slopes = mt.autograd.grad(loss, list(model.parameters()))
    for p, slope in zip(model.parameters(), slopes, strict=True):
        p.grad = slope
    optimizer.step()
