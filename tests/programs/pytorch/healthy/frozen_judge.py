import torch
from torch import nn

torch.manual_seed(0)
painter = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
judge = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(), nn.Linear(8, 1))
paints = torch.optim.Adam(painter.parameters(), lr=1e-3)
judges = torch.optim.Adam(judge.parameters(), lr=1e-3)
criterion = nn.BCEWithLogitsLoss()
for step in range(3):
    fake = painter(torch.randn(8, 2))
    judges.zero_grad()
    verdict = criterion(judge(torch.randn(8, 2) + 3), torch.ones(8, 1))
    verdict = verdict + criterion(judge(fake.detach()), torch.zeros(8, 1))
    verdict.backward()
    judges.step()
    for p in judge.parameters():
        p.requires_grad_(False)
    paints.zero_grad()
    criterion(judge(fake), torch.ones(8, 1)).backward()
    paints.step()
    for p in judge.parameters():
        p.requires_grad_(True)
