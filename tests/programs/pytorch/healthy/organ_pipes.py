"""How does each tone depend on the air? One backward for each, through the same graph."""

import torch
from torch import nn

torch.manual_seed(0)
pipes = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 4))
optimizer = torch.optim.SGD(pipes.parameters(), lr=0.1)
for _ in range(2):
    air = torch.randn(16, 3)
    loss = (pipes(air) - air.sum(1, keepdim=True)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

pipes.requires_grad_(False)
for _ in range(2):
    air = torch.randn(3, requires_grad=True)
    tones = pipes(air)
    rows = []
    for i in range(4):
        air.grad = None
        tones[i].backward(retain_graph=True)
        rows.append(air.grad.clone())
    print(torch.stack(rows).norm().item())
