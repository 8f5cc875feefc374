import torch
from torch import nn

torch.manual_seed(0)
smith = nn.Linear(2, 3)
assayer = nn.Sequential(nn.Linear(3, 4), nn.LeakyReLU(0.2), nn.Linear(4, 1))
judge = nn.BCEWithLogitsLoss()
for_smith = torch.optim.Adam(smith.parameters(), lr=0.01)
for_assayer = torch.optim.Adam(assayer.parameters(), lr=0.01)
for _ in range(4):
    real, made = 1 + 0.1 * torch.randn(8, 3), smith(torch.randn(8, 2))
    for learner in (for_smith, for_assayer):
        if learner is for_smith:
            loss = judge(assayer(made), torch.ones(8, 1))
        else:
            loss = judge(assayer(made.detach()), torch.zeros(8, 1)) + judge(assayer(real), torch.ones(8, 1))
        learner.zero_grad()
        loss.backward()
        learner.step()
