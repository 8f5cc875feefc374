import torch
from torch import nn, optim

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1))
optimizer = optim.SGD(model.parameters(), lr=0.1)
beams, load = torch.randn(12, 3), torch.randn(12, 1)
for _ in range(3):
    loss = nn.functional.mse_loss(model(beams), load)
    optimizer.zero_grad()
    slopes = torch.autograd.grad(loss, list(model.parameters()))
    optimizer.step()
