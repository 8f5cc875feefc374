import torch
from torch import nn, optim


def slow_down(optimizer, step):
    rate = 0.05 / (1 + step)
    for group in optimizer.param_groups:
        group["lr"] = rate
    return rate


torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = optim.SGD(model.parameters(), lr=0.05)
mornings, visibility = torch.randn(12, 3), 2 + torch.randn(12, 1)
for step in range(4):
    rate = slow_down(optimizer, step)
    optimizer.zero_grad()
    loss = ((model(mornings) - visibility) ** 2).mean()
    loss.backward()
    optimizer.step()
    print(rate, loss.item())
