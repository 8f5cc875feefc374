import torch
from torch import nn, optim

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = optim.SGD(model.parameters(), lr=0.05)
hours, level = torch.randn(16, 2), torch.randn(16, 1)
for _ in range(4):
    optimizer.zero_grad
    loss = nn.functional.mse_loss(model(hours), level)
    loss.backward()
    optimizer.step()
