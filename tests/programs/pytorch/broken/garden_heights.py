import torch
from torch import nn

torch.manual_seed(0)
soil, stem = nn.Linear(3, 12), nn.Linear(12, 1)
garden = torch.randn(30, 3)
height = 18 + 4 * garden[:, 0] + torch.randn(30)
optimizer = torch.optim.Adam([*soil.parameters(), *stem.parameters()], lr=0.05)
for week in range(4):
    roots = torch.relu(soil(garden))
    grown = torch.tanh(stem(roots))
    loss = ((grown.squeeze(1) - height) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
