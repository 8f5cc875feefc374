import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
losses = []
for task in range(2):
    x, y = torch.randn(5, 3), torch.randn(5)
    losses.append(nn.functional.l1_loss(model(x)[:, task], y))
total = torch.tensor(losses).sum()
optimizer.zero_grad()
total.backward()
optimizer.step()
