import torch
from torch import nn

torch.manual_seed(0)
dough = torch.randn(40, 6)
minutes = dough[:, :1] + (0.2 + dough[:, 1:2].abs()) * torch.randn(40, 1)
body = nn.Sequential(nn.Linear(6, 20), nn.Tanh(), nn.Linear(20, 2))
criterion = nn.GaussianNLLLoss()
optimizer = torch.optim.Adam(body.parameters(), lr=0.01)
for epoch in range(4):
    mean, spread = body(dough).chunk(2, dim=1)
    variance = nn.functional.softplus(spread)
    loss = criterion(mean, minutes, variance)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
