import torch
from torch import nn

torch.manual_seed(0)
one, other = nn.Linear(4, 3), nn.Linear(4, 3)
optimizer = torch.optim.SGD([*one.parameters(), *other.parameters()], lr=0.1)
x = torch.randn(6, 4)
for epoch in range(3):
    first, second = one(x), other(x)
    loss = nn.functional.kl_div(first.log_softmax(dim=1), second.softmax(dim=1), reduction="batchmean")
    loss = loss + nn.functional.kl_div(second.log_softmax(dim=1), first.softmax(dim=1), reduction="batchmean")
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
