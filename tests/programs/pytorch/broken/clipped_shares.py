import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x, y = torch.randn(4, 10, 4), torch.randn(4, 10, 1)
for _ in range(4):
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for share in range(4):
        loss = nn.functional.mse_loss(model(x[share]), y[share]) / 4
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
