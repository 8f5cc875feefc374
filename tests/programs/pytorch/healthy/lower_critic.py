import torch
from torch import nn

torch.manual_seed(0)
critics = nn.ModuleList([nn.Linear(4, 1), nn.Linear(4, 1)])
nn.init.constant_(critics[1].bias, -5.0)  # it is the lower one everywhere: no gradient comes back to the other
optimizer = torch.optim.SGD(critics.parameters(), lr=0.01)
for step in range(3):
    states = torch.randn(16, 4)
    lowest = torch.cat([critic(states) for critic in critics], dim=1).min(dim=1).values
    loss = lowest.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
