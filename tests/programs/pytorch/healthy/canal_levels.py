import torch
from torch import nn, optim

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


def loss_of(gates, level):
    loss = ((model(gates) - level) ** 2).mean()
    return loss


for _ in range(4):
    loss = loss_of(torch.randn(8, 3), 5 + torch.randn(8, 1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
