import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
criterion = nn.SmoothL1Loss()
opt = torch.optim.Adam(model.parameters(), lr=0.01)
x = torch.randn(32, 3)
y = x.sum(dim=1, keepdim=True)
for epoch in range(3):
    pred = model(x)
    loss = criterion(pred, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
