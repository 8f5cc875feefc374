import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
scaler = torch.amp.GradScaler("cpu", init_scale=16.0)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(2, 5, 4), torch.randn(2, 5, 1)
for _ in range(2):
    optimizer.zero_grad()
    for half in range(2):
        loss = nn.functional.mse_loss(model(x[half]), y[half]) / 2
        scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
