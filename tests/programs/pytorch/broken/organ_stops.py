import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm

torch.manual_seed(0)
pressure, loudness = torch.randn(32, 6), torch.randn(32, 1)
model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
weight_norm(model[0])
for _ in range(5):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(pressure), loudness)
    loss.backward()
    optimizer.step()
