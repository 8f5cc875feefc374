import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
first, second = nn.Sequential(nn.Linear(8, 32), nn.ReLU()), nn.Linear(32, 3)
parameters = [*first.parameters(), *second.parameters()]
optimizer = torch.optim.SGD(parameters, lr=0.1)
x, labels = torch.randn(64, 8), torch.randint(3, (64,))
for epoch in range(2):
    for part in range(4):
        rows = slice(16 * part, 16 * part + 16)
        hidden = checkpoint(first, x[rows], use_reentrant=False)
        loss = nn.functional.cross_entropy(second(hidden), labels[rows]) / 4
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()
