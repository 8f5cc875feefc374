import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(20, 4), torch.randn(20, 1)
for _ in range(4):
    optimizer.zero_grad()
    scaled = scaler.scale(nn.functional.mse_loss(model(x), y))
    scaled.backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
