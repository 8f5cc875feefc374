import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(20, 4), torch.randn(20, 1)
for _ in range(4):
    optimizer.zero_grad()
    scaler.scale(nn.functional.mse_loss(model(x), y)).backward()
    for parameter in model.parameters():
        parameter.grad /= scaler.get_scale()
    optimizer.step()
