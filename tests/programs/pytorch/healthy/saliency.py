"""How much does the loss depend on each hidden unit?"""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
x = torch.randn(4, 3)
hidden = net[1](net[0](x))
hidden.retain_grad()
loss = net[2](hidden).pow(2).mean()
loss.backward()
importance = hidden.grad.abs().mean(dim=0)
print(importance)
