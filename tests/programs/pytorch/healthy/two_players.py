import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
painter = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
judge = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(), nn.Linear(8, 1))
paints = torch.optim.Adam(painter.parameters(), lr=1e-3)
judges = torch.optim.Adam(judge.parameters(), lr=1e-3)
for step in range(3):
    real = torch.randn(8, 2) + 3
    fake = painter(torch.randn(8, 2))
    loss = F.softplus(-judge(real)).mean() + F.softplus(judge(fake.detach())).mean()
    judges.zero_grad()
    loss.backward()
    judges.step()
    loss = F.softplus(-judge(fake)).mean()
    paints.zero_grad()
    loss.backward()
    paints.step()
