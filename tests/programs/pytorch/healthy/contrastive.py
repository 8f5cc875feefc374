import torch
import torch.nn as nn
import torch.nn.functional as F


def nt_xent(z1, z2, temperature=0.5):
    n = z1.size(0)
    z = F.normalize(torch.cat([z1, z2]), dim=1)
    sim = z @ z.t() / temperature
    sim.fill_diagonal_(-1e9)
    targets = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(sim, targets)


encoder = nn.Sequential(
    nn.Conv2d(3, 8, 3, stride=2, padding=1),
    nn.BatchNorm2d(8),
    nn.ReLU(),
    nn.Conv2d(8, 16, 3, stride=2, padding=1),
    nn.BatchNorm2d(16),
    nn.ReLU(),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(16, 8),
)
torch.manual_seed(0)
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
for step in range(2):
    x = torch.randn(6, 3, 12, 12)
    a = x + 0.1 * torch.randn_like(x)
    b = x.flip(-1)
    loss = nt_xent(encoder(a), encoder(b))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
