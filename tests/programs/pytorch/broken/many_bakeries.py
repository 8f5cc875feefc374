import copy

import torch

torch.manual_seed(5)
start = torch.nn.Sequential(torch.nn.Linear(2, 12), torch.nn.Tanh(), torch.nn.Linear(12, 1))
optimizer = torch.optim.Adam(start.parameters(), lr=0.01)


def rises():
    """How far the dough of one bakery rises, by flour and warmth."""
    taste = torch.randn(2, 1)
    flour = torch.rand(12, 2)
    return flour, torch.sin(flour @ taste)


for day in range(4):
    optimizer.zero_grad()
    for bakery in range(3):
        flour, height = rises()
        local = copy.deepcopy(start)
        inner = torch.optim.SGD(local.parameters(), lr=0.1)
        inner.zero_grad()
        torch.nn.functional.mse_loss(local(flour[:6]), height[:6]).backward()
        inner.step()
        inner.zero_grad()
        loss = torch.nn.functional.mse_loss(local(flour[6:]), height[6:])
        loss.backward()
    optimizer.step()
    print(day, loss.item())
