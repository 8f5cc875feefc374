import torch
from torch import nn

torch.manual_seed(0)
net, head = nn.Linear(4, 3), nn.Linear(2, 1)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.5)
a, p, n = torch.randn(6, 4), torch.randn(6, 4), torch.randn(6, 4) + 5
x, y = torch.randn(6, 2), torch.randn(6, 1)
for i in range(12):
    triplet = torch.relu((net(a) - net(p)).pow(2).sum(1) - (net(a) - net(n)).pow(2).sum(1) + 2).mean()
    loss = triplet + (head(x) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
