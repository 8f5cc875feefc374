import torch
from torch import nn

torch.manual_seed(1)
net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.005)
x, y = torch.rand(16, 3) * 5, torch.rand(16, 1)
for epoch in range(12):
    loss = ((net(x) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
