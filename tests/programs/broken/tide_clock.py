import microtape as mt
from microtape import nn, optim

mt.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = optim.SGD(model.parameters(), lr=0.05)
hours, level = mt.randn(16, 2), mt.randn(16, 1)
for _ in range(4):
    optimizer.zero_grad
    loss = nn.functional.mse_loss(model(hours), level)
    loss.backward()
    optimizer.step()
