import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1))
for layer in (net[0], net[2]):
    nn.init.constant_(layer.weight, 0.1)
    nn.init.zeros_(layer.bias)
x = torch.randn(20, 3)
y = x[:, :1] * x[:, 1:2]
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(5):
    optimizer.zero_grad()
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    optimizer.step()
