import torch
from torch import nn
from torch.nn import functional as F

BATCH, INPUTS, HIDDEN, OUTPUTS, CLASSES, STEPS, ACTIVATION, OPTIMIZER = 8, 4, 16, 2, 3, 4, nn.ReLU, torch.optim.Adam

torch.manual_seed(0)
left = nn.Sequential(nn.Linear(INPUTS, HIDDEN), ACTIVATION(), nn.Linear(HIDDEN, HIDDEN))
right = nn.Sequential(nn.Linear(INPUTS, HIDDEN), ACTIVATION(), nn.Linear(HIDDEN, HIDDEN))
optimizer = OPTIMIZER([*left.parameters(), *right.parameters()], lr=1e-3)
for step in range(STEPS):
    x = torch.randn(BATCH, INPUTS)
    u = F.normalize(left(x), dim=1)
    v = F.normalize(right(x + 0.1 * torch.randn(BATCH, INPUTS)), dim=1)
    scores, labels = u @ v.t() / 0.1, torch.arange(BATCH)
    loss = (F.cross_entropy(scores, labels) + F.cross_entropy(scores.t(), labels)) / 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
