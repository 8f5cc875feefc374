import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(3):
    t = torch.rand(10, 1, requires_grad=True)
    height = net(t)
    (speed,) = torch.autograd.grad(height.sum(), t, create_graph=True)
    (pull,) = torch.autograd.grad(speed.sum(), t, create_graph=True)
    loss = (pull + 9.81).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
