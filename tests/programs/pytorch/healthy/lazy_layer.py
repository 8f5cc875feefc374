import torch
from torch import nn

torch.manual_seed(5)
wind, power = torch.rand(24, 2), torch.rand(24, 1)
layer = nn.Linear(2, 1)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
before = next(layer.parameters()).detach().clone()
for epoch in range(4):
    optimizer.zero_grad()
    loss = ((layer(wind) - power) ** 2).mean()
    loss.backward()
    optimizer.step()
after = next(layer.parameters())
print(f"loss {loss.item():.4f}, learned: {not torch.equal(before, after)}")
