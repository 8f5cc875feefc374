import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
scaler = torch.amp.GradScaler("cpu", init_scale=16.0)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x, y = torch.randn(20, 4), torch.randn(20, 1)
for _ in range(6):
    loss = nn.functional.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
