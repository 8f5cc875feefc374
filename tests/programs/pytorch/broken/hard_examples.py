import torch
from torch import nn

torch.manual_seed(0)
readings, wear = torch.randn(24, 4), torch.randn(24)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(40):
    optimizer.zero_grad()
    errors = (model(readings).squeeze(1) - wear).square()
    loss = errors[errors > 3].mean()
    loss.backward()
    optimizer.step()
