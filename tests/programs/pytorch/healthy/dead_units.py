import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
nn.init.constant_(model[0].bias, -0.3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(64, 6)
y = x[:, :1] * x[:, 1:2]
for step in range(50):
    hidden = model[0](x)
    active = model[1](hidden)
    loss = nn.functional.mse_loss(model[2](active), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
