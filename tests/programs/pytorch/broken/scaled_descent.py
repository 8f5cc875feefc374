import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(20, 4), torch.randn(20, 1)
for _ in range(4):
    for half in (0, 10):
        loss = nn.functional.mse_loss(model(x[half : half + 10]), y[half : half + 10]) / 2
        scaler.scale(loss).backward()
    optimizer.step()
    optimizer.zero_grad()
