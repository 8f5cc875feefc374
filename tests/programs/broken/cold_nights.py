import microtape as mt
from microtape import nn, optim

mt.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 12), nn.Tanh(), nn.Linear(12, 1), nn.ReLU())
optimizer = optim.SGD(model.parameters(), lr=0.2)
clouds = mt.randn(40, 3)
degrees = -2 - clouds.abs().sum(1, keepdim=True)
for _ in range(8):
    loss = ((model(clouds) - degrees) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
