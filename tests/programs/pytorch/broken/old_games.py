import torch
from torch import nn, optim

torch.manual_seed(0)
policy = nn.Linear(4, 2)
optimizer = optim.Adam(policy.parameters(), lr=0.01)
chosen, won = [], []
for _ in range(3):
    for _ in range(5):
        board = torch.randn(4)
        chosen.append(policy(board).log_softmax(dim=-1)[0])
        won.append(torch.rand(()))
    loss = -(torch.stack(chosen) * torch.stack(won)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
