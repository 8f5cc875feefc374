import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 1))
for p in net.parameters():
    nn.init.normal_(p, std=0.3)
x = torch.randn(20, 3)
y = x[:, :1] * 2 + 1
optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
for epoch in range(5):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
