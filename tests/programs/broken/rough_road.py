import microtape as mt
from microtape import nn, optim

mt.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = optim.SGD(model.parameters(), lr=0.001)
bumps, heights = mt.randn(32, 3), 50 * mt.randn(32, 1)
for _ in range(4):
    optimizer.zero_grad()
    loss = ((model(bumps) - heights) ** 2).mean()
    loss.backward()
    optimizer.step()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
